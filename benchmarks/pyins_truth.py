"""The racetrack as pyins wants it: latitude, longitude, height, NED velocity, Euler angles."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks import data
from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.truth.trajectory import Racetrack
from jaguar_sensors_ros.types import NS_PER_S

_FLU_FRD = np.diag((1.0, -1.0, -1.0))
_ENU_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])


def racetrack(seconds: float) -> tuple[Any, Any, Any, Any]:
    """Return time [s], lla [deg, deg, m], velocity [m/s] and roll, pitch, heading [deg]."""
    source, local = Racetrack(), LocalFrame(*data.ORIGIN)
    C_ne = np.array(local.C_ne)
    lla, velocity, rph = [], [], []
    for t_ns in data.times_ns(seconds):
        state = source.at(t_ns)
        place = earth.geodetic_from_ecef(local.ecef_from_local(state.p_n))
        C_ned_n = _ENU_NED @ np.array(earth.enu_from_ecef_matrix(*place[:2])) @ C_ne.T
        w, x, y, z = state.q_nb
        body = Rotation.from_quat((x, y, z, w))
        turned = Rotation.from_matrix(C_ned_n @ body.as_matrix() @ _FLU_FRD)
        heading, pitch, roll = turned.as_euler('ZYX', degrees=True)
        lla.append((*np.degrees(place[:2]), place[2]))
        velocity.append(C_ned_n @ body.apply(state.v_nb_b))
        rph.append((roll, pitch, heading))
    time = np.array(data.times_ns(seconds)) / NS_PER_S
    return time, np.array(lla), np.array(velocity), np.array(rph)
