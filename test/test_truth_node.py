"""truth_node as a process of its own, over real DDS."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

rclpy = pytest.importorskip('rclpy')

from geometry_msgs.msg import AccelStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from test_truth_files import ODOM, SECOND, write_bag  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from jaguar_sensors_ros.truth.files import open_truth  # noqa: E402
from jaguar_sensors_ros.truth.trajectory import Racetrack  # noqa: E402

pytestmark = pytest.mark.ros
CODE = 'from jaguar_sensors_ros.ros.main import truth_node; raise SystemExit(truth_node())'
COMMAND = [sys.executable, '-c', CODE, '--ros-args']


def start(**parameters):
    options = [part for name, value in parameters.items() for part in ('-p', f'{name}:={value}')]
    return subprocess.Popen(
        [*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def stamp_ns(stamp):
    return stamp.sec * SECOND + stamp.nanosec


@pytest.fixture
def listener():
    """Run the node and return its messages by topic in the order of their arrival."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('truth_listener', context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    kinds = {'ground_truth/odom': Odometry, 'ground_truth/accel': AccelStamped}
    kinds |= {'/tf': TFMessage, '/clock': Clock}
    got = {topic: [] for topic in kinds}
    for topic, kind in kinds.items():
        node.create_subscription(kind, topic, got[topic].append, 1000)

    def listen(**parameters):
        process = start(wait_for_subscribers=1, **parameters)
        quiet_s = 0.0
        while process.poll() is None or quiet_s < 0.5:
            before = sum(map(len, got.values()))
            executor.spin_once(timeout_sec=0.1)
            quiet_s = 0.0 if sum(map(len, got.values())) > before else quiet_s + 0.1
        process.out, process.err = process.communicate()
        return got, process

    yield listen
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_everything_of_a_built_in_trajectory(listener):
    got, process = listener(
        trajectory='racetrack',
        rate_hz=50,
        duration_s=2,
        real_time_factor=2,
        publish_accel=True,
        publish_tf=True,
        publish_clock=True,
        use_sim_time=True,
        frame_id='world',
    )
    assert process.returncode == 0, process.err
    assert 'use_sim_time = true is ignored' in process.err
    stamps = [stamp_ns(m.header.stamp) for m in got['ground_truth/odom']]
    assert stamps == [k * 20_000_000 for k in range(1, 101)]
    truth = {t: Racetrack().at(t) for t in stamps}
    for message in got['ground_truth/odom']:
        assert (message.header.frame_id, message.child_frame_id) == ('world', 'base_link')
        s, pose, twist = truth[stamp_ns(message.header.stamp)], message.pose.pose, message.twist
        p, q, v, w = pose.position, pose.orientation, twist.twist.linear, twist.twist.angular
        assert ((p.x, p.y, p.z), (q.w, q.x, q.y, q.z)) == (s.p_n, s.q_nb)
        assert ((v.x, v.y, v.z), (w.x, w.y, w.z)) == (s.v_nb_b, s.omega_nb_b)
    for message in got['ground_truth/accel']:
        a = message.accel.linear
        assert message.header.frame_id == 'base_link'
        assert (a.x, a.y, a.z) == truth[stamp_ns(message.header.stamp)].a_nb_b
    for (transform,) in (message.transforms for message in got['/tf']):
        p = transform.transform.translation
        assert (transform.header.frame_id, transform.child_frame_id) == ('world', 'base_link')
        assert (p.x, p.y, p.z) == truth[stamp_ns(transform.header.stamp)].p_n
    clock = [stamp_ns(m.clock) for m in got['/clock']]
    # the node waits for one reader of the odometry only: the others may miss the first messages
    assert clock == list(range(clock[0], 2 * SECOND + 1, 10_000_000))
    assert min(len(got['/tf']), len(got['ground_truth/accel'])) > 50


def test_bag_is_replayed_verbatim(listener, tmp_path):
    path = write_bag(tmp_path / 'bag', {'/odom': ODOM})
    got, process = listener(trajectory=path, start='recorded', real_time_factor=2)
    assert process.returncode == 0, process.err
    rows = open_truth(path).rows
    assert len(got['ground_truth/odom']) == len(rows)
    for message, row in zip(got['ground_truth/odom'], rows, strict=True):
        p, q = message.pose.pose.position, message.pose.pose.orientation
        assert stamp_ns(message.header.stamp) == row.t_ns
        frames = message.header.frame_id, message.child_frame_id
        assert frames == ('odom', 'base_footprint')
        assert ((p.x, p.y, p.z), (q.w, q.x, q.y, q.z)) == (row.position, row.orientation)
        assert tuple(message.pose.covariance) == row.pose_covariance
        assert tuple(message.twist.covariance) == row.twist_covariance
        assert message.twist.twist.linear.x == row.linear[0]


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'trajectory': '/no/such/file.csv'}, "trajectory = '/no/such/file.csv': no such file"),
        ({'rate_hz': -1}, 'rate_hz = -1: must be'),
        ({'real_time_facto': 2}, 'did you mean real_time_factor'),
        ({'qos_overrides./ground_truth/odom.publisher.reliability': 'bad'}, 'qos_overrides'),
    ],
)
def test_bad_input_is_one_line_and_status_2(parameters, message):
    process = start(**parameters)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 2, error
    assert message in error and len(error.strip().splitlines()) == 1


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_cleanly(number):
    process = start(trajectory='circle', rate_hz=200)
    assert 'playing circle' in process.stderr.readline()
    time.sleep(0.3)
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (0, '')
