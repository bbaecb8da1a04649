"""Records of live nodes: what came over DDS has the white noise of the grade, at any rate."""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('rosbags')

from ros_helpers import SECOND, rest
from sensor_msgs.msg import Imu

from jaguar_sensors_ros.analysis.allan import conservative_error, overlapping_adev
from jaguar_sensors_ros.analysis.allan_theory import AXES, imu_theory
from jaguar_sensors_ros.analysis.spectral_fit import compare, fit, spectrum_of
from jaguar_sensors_ros.bags.writer import BagWriter
from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.cli import allan_report
from jaguar_sensors_ros.cli.allan_input import read_bag
from jaguar_sensors_ros.cli.main import main
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = [pytest.mark.ros, pytest.mark.slow]

GRADE, SECONDS = 'tactical', 25
RATES = (100, 400)


def record(graph, folder):
    """Record two nodes at rest at once, one for each rate, and return their bags."""
    topics = {rate: f'/imu_{rate}/data_raw' for rate in RATES}
    collectors = {}
    for rate, topic in topics.items():
        graph.start(
            ImuNode, arguments=['-r', f'__node:=imu_{rate}'], grade=GRADE,
            sample_rate_hz=float(rate), random_seed=rate,
        )
        collectors[rate] = graph.collect(Imu, topic, raw=True)
    graph.feed(rest(0.0, SECONDS, 50), readers=len(RATES))
    bags = {}
    for rate, collector in collectors.items():
        collector.until_count(SECONDS * rate)
        bags[rate] = folder / f'run_{rate}'
        writer = BagWriter(bags[rate], {topics[rate]: 'sensor_msgs/msg/Imu'})
        for k, data in enumerate(collector, start=1):
            writer.write(topics[rate], k * SECOND // rate, data)
        writer.finish()
    return bags


def test_two_recorded_live_runs_have_the_white_noise_of_their_grade(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(allan_report, '_has_matplotlib', lambda: False)
    sizes, plain, expected = {}, {}, {}
    for rate, bag in record(graph, tmp_path).items():
        got = read_bag(bag, '', lambda share: None)
        assert (got.rate_hz, len(got.data)) == (rate, SECONDS * rate)
        # the tool's verdict, on the curve and on N
        arguments = ['--bag', str(bag), '--expect', GRADE, '--output', str(tmp_path / 'out')]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = main(['allan', *arguments])
        last = printed.getvalue().splitlines()[-1]
        assert (last, status) == ('agreement on all six axes', 0)
        theories = imu_theory(make_settings('imu', {'grade': GRADE, 'sample_rate_hz': rate}))
        expected[rate] = np.array([theory.white_density for theory in theories])
        spectra = [spectrum_of(column) for column in got.data.T]
        found = [compare(s, theory)['N'] for s, theory in zip(spectra, theories, strict=True)]
        sizes[rate] = np.array([(size.value, size.error) for size in found])
        # the same read off without knowing anything, and off the curve at 0.16 s; who must tell
        # five terms apart knows each less well, and says how well
        blind = [fit(spectrum, 1.0 / rate)['N'] for spectrum in spectra]
        for axis, (size, (value, error)) in enumerate(zip(blind, sizes[rate], strict=True)):
            assert abs(size.value - value) < 4.0 * math.hypot(size.error, error), axis
            assert size.error < 0.05 * size.value, axis
        m = 16 * rate // 100
        curve = overlapping_adev(got.data, rate, [m])
        plain[rate] = curve.adev[0] * math.sqrt(curve.tau[0])
        bound = 4.0 * conservative_error(len(got.data), m)
        np.testing.assert_allclose(plain[rate], expected[rate], rtol=bound + 0.01)
    (slow, slow_error), (fast, fast_error) = (sizes[rate].T for rate in RATES)
    assert np.all(np.abs(fast - slow) < 4.0 * np.hypot(fast_error, slow_error)), AXES
    assert np.all(np.hypot(fast_error, slow_error) < 0.02 * slow)
    for rate in RATES:
        value, error = sizes[rate].T
        assert np.all(np.abs(value - expected[rate]) < 4.0 * error), rate
    np.testing.assert_array_equal(expected[100], expected[400])
    assert expected[100][0] == pytest.approx(2.908882e-6, rel=1e-6)
    assert expected[100][3] == pytest.approx(1.666667e-4, rel=1e-6)
