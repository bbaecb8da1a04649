"""Sensor models for ROS 2: ground truth in, IMU and GNSS messages out.

Conventions, valid everywhere in the package
--------------------------------------------

Frames
    i inertial; e Earth-fixed (ECEF, the ROS frame ``earth``); n local tangent plane, east
    north up, fixed to the Earth at the origin; b body, x forward y left z up (FLU); s sensor.
    ``quantity_ab_c`` is the quantity of b relative to a, resolved in c; ``C_nb`` and ``q_nb``
    take vectors from b to n.
Quaternions
    w, x, y, z inside; x, y, z, w in ROS messages and in TUM files.
Units
    SI and radians without a suffix inside.  Where a number crosses a boundary its unit is in
    its name or in its declaration.
Time
    Integer nanoseconds in data.  The only float time is an interval, ``dt_s``.  Samples lie on
    the grid t_k = round(k 1e9 / rate) with absolute k, in the time base of the truth.
Random numbers
    Every term of every axis of every sensor has a stream of unit normals of its own, keyed by
    (seed, sensor, term, axis, power-on) and addressed by the number of the sample since
    power-on (:class:`jaguar_sensors_ros.component.NormalStream`).
"""

__version__ = '0.1.0'
