"""Truth that stops, jumps or lies, and the ways to read it, on nodes over real DDS."""

from __future__ import annotations

import math

import pytest

pytest.importorskip('rclpy')
pymap3d = pytest.importorskip('pymap3d')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import AccelStamped, TransformStamped  # noqa: E402
from jaguar_sensors_msgs.srv import InjectFailure  # noqa: E402
from ros_helpers import (  # noqa: E402
    LATCHED,
    SECOND,
    circle,
    odometry,
    on_circle,
    record,
    rest,
    stamp_ns,
    stamps,
)
from sensor_msgs.msg import Imu, NavSatFix  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from jaguar_sensors_ros.ros.gps_node import GpsNode  # noqa: E402
from jaguar_sensors_ros.ros.imu_node import ImuNode  # noqa: E402

pytestmark = pytest.mark.ros

G0 = 9.80665
NODES = {'imu': ImuNode, 'gps': GpsNode}
PERIOD_NS = SECOND // 200


def xyz(v):
    return (v.x, v.y, v.z)


def on_turn(message):
    """Tell whether the IMU sample is that of the circle, exactly."""
    wanted = (0.0, 0.0, 1.0, 0.0, 2.0, G0)
    found = (*xyz(message.angular_velocity), *xyz(message.linear_acceleration))
    return all(abs(a - b) < 1e-6 for a, b in zip(found, wanted, strict=True))


def diagnose(graph, kind):
    """Return a collector of diagnostics; look into it with :func:`entry`."""
    return graph.collect(DiagnosticArray, '/diagnostics')


def entry(message):
    return message.status[0]


def value(status, key):
    return {item.key: item.value for item in status.values}.get(key)


# ---------------------------------------------------------------------- nothing comes


@pytest.mark.parametrize('kind', NODES)
def test_without_truth_nothing_comes_and_both_say_so(graph, kind):
    graph.log()
    first, message_type = {'imu': ('data', Imu), 'gps': ('fix', NavSatFix)}[kind]
    graph.start(NODES[kind], arguments=['-r', 'ground_truth/odom:=/pose'])
    # the remapped name is the one to override and the one to be told
    data = graph.collect(message_type, f'/{kind}/{first}')
    diagnostics = diagnose(graph, kind)
    warned = graph.log().until(lambda m: m.name == kind and 'no ground truth' in m.msg)
    assert '/pose' in warned.msg and 'truth.source: static' in warned.msg
    told = entry(diagnostics.until(lambda m: 'no ground truth on /pose' in entry(m).message))
    assert told.level == DiagnosticStatus.WARN and told.name == f'/{kind}: sensor'
    assert not data
    graph.feed(rest(0.0, 1.0, 50)[:40], '/pose')
    graph.feed(rest(0.8, 1.0, 50), '/pose')
    data.until_count(1)
    fine = entry(diagnostics.until(lambda m: entry(m).level == DiagnosticStatus.OK))
    assert fine.message == 'Ready' and value(fine, 'truth topic') == '/pose'
    # it stops again
    entry(diagnostics.until(lambda m: 'no ground truth' in entry(m).message and m.status))


def test_diagnostics_content(graph):
    graph.start(ImuNode)
    diagnostics = diagnose(graph, 'imu')
    data = graph.collect(Imu, '/imu/data')
    messages = rest(0.0, 1.0, 50)
    messages[10].pose.pose.position.x = math.nan
    messages[20] = messages[19]
    graph.feed(messages)
    data.until_stamp(1.0)
    graph.call(InjectFailure, '/imu/inject_failure', mode='stuck')
    graph.feed(rest(1.02, 1.1, 50))
    found = entry(diagnostics.until(lambda m: value(entry(m), 'samples') == '220'))
    assert found.hardware_id == '/imu' and found.level >= DiagnosticStatus.WARN
    assert value(found, 'truth not finite') == '1' and value(found, 'truth duplicate') == '1'
    assert value(found, 'truth received') == '56'
    assert 'stuck' in value(found, 'faults')
    assert float(value(found, 'uptime [s]')) == pytest.approx(1.1)
    rates = [float(value(entry(m), 'rate [Hz]')) for m in diagnostics]
    assert max(rates) == pytest.approx(200.0, rel=0.01)


@pytest.mark.parametrize(
    ('parameters', 'told'),
    [
        ({'truth__acceleration': 'topic'}, '/ground_truth/accel'),
        ({'mount__source': 'tf'}, '/tf_static'),
        ({'truth__max_gap_s': 0.01}, 'truth.max_gap_s'),
    ],
)
def test_truth_that_gives_nothing_is_explained(graph, parameters, told):
    graph.log()
    graph.start(ImuNode, **parameters)
    data = graph.collect(Imu, '/imu/data')
    publisher_time = iter(stamps(0.0, 1000.0, 50))

    def feeding():
        graph.feed([odometry(next(publisher_time))])
        return any(told in m.msg for m in graph.log())

    graph.until(feeding, f'a warning about {told}')
    assert not data
    assert not any('no ground truth on' in m.msg for m in graph.log())


# ---------------------------------------------------------------------- stamps


@pytest.mark.parametrize('kind', NODES)
@pytest.mark.parametrize('back_to_s', [0.0, 4.5], ids=['far', 'near'])
def test_a_reset_of_the_time(graph, kind, back_to_s):
    graph.log()
    topic, message_type = {'imu': ('data', Imu), 'gps': ('fix', NavSatFix)}[kind]
    given = {'update_hz': 200} if kind == 'gps' else {}
    graph.start(NODES[kind], fidelity='transparent', **given)
    data = graph.collect(message_type, f'/{kind}/{topic}')
    graph.feed(circle(0.0, 5.0, 50))
    data.until_stamp(5.0)
    stuck = {'mode': 'stuck', 'delay': 100.0}
    assert graph.call(InjectFailure, f'/{kind}/inject_failure', **stuck).success
    before = len(data)
    back_ns = round(back_to_s * SECOND)
    # two periods of the odometry are three messages; the sample after them must be there
    graph.feed([on_circle(back_ns + k * SECOND // 50) for k in range(3)])
    data.until_count(before + 1)
    data.until_stamp(back_to_s + 0.04)
    resumed = data.stamps[before:]
    assert resumed[0] <= back_ns + 2 * SECOND // 50 + PERIOD_NS
    assert resumed == list(range(resumed[0], back_ns + SECOND // 25 + 1, PERIOD_NS))
    graph.feed(circle(back_to_s + 0.06, back_to_s + 1.0, 50))
    data.until_stamp(back_to_s + 1.0)
    if kind == 'imu':
        assert all(map(on_turn, data))
    said = [m for m in graph.log() if 'went back' in m.msg]
    assert len(said) == 1 and 'stuck' in said[0].msg


def test_one_late_message_is_dropped_and_duplicates_do_no_harm(graph):
    truth = circle(0.0, 2.0, 50)
    plain = record(graph, ImuNode, truth, {'data': Imu}, count=400, random_seed=1)['data']
    messy = list(truth)
    messy.insert(60, messy[50])
    for index in (80, 40, 20):
        messy.insert(index, messy[index])
    again = record(graph, ImuNode, messy, {'data': Imu}, count=400, random_seed=1)['data']
    assert list(again) == list(plain)


def test_a_gap_is_not_bridged_and_the_streams_go_on(graph):
    truth = circle(0.0, 5.0, 50)
    given = {'random_seed': 1, 'bias_g_init_std': 0, 'bias_a_init_std': 0}
    plain = record(graph, ImuNode, truth, {'data': Imu}, count=1000, **given)['data']
    holed = [m for m in truth if not SECOND < stamp_ns(m) < 3 * SECOND]
    graph.log()
    graph.start(ImuNode, **given)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(holed)
    data.until_stamp(5.0)
    assert not [m for m in graph.log() if 'twist' in m.msg]
    missing = set(plain.stamps) - set(data.stamps)
    assert min(missing) == SECOND + PERIOD_NS and max(missing) <= 3 * SECOND + PERIOD_NS
    kept = {stamp_ns(m): m for m in plain}
    for m in data:
        was = kept[stamp_ns(m)]
        assert xyz(m.angular_velocity) == pytest.approx(xyz(was.angular_velocity), abs=1e-12)
        orientation = (m.orientation.w, m.orientation.x, m.orientation.y, m.orientation.z)
        assert orientation == pytest.approx(
            (was.orientation.w, was.orientation.x, was.orientation.y, was.orientation.z)
        )


def test_stamps_never_zero_and_strictly_increasing(graph):
    graph.start(ImuNode, sample_rate_hz=1000)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.0, 0.2, 50))
    data.until_stamp(0.2)
    graph.feed(rest(0.9, 1.2, 50))
    data.until_stamp(1.2)
    assert data.stamps[0] == 1_000_000
    assert all(b > a for a, b in zip(data.stamps, data.stamps[1:], strict=False))


# ---------------------------------------------------------------------- values


def spoil(message, part, number):
    pose, twist = message.pose.pose, message.twist.twist
    owner = {
        'position': pose.position,
        'orientation': pose.orientation,
        'linear': twist.linear,
        'angular': twist.angular,
    }[part]
    owner.y = number
    return message


BAD_NUMBERS = [
    (part, number)
    for part in ('position', 'orientation', 'linear', 'angular')
    for number in (math.nan, math.inf, -math.inf, 1e300)
    if (part, number) != ('orientation', 1e300)  # a quaternion may have any length
]


@pytest.mark.parametrize(('part', 'number'), BAD_NUMBERS)
def test_bad_numbers_are_dropped(graph, part, number):
    truth = circle(0.0, 1.0, 50)
    for index in (0, 10, 11, 30):
        spoil(truth[index], part, number)
    running = graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(truth)
    data.until_stamp(1.0)
    assert all(map(on_turn, data))
    assert sum(running.node._intake.counts.values()) == 4


def test_one_absurd_rate_does_not_stall_the_node(graph):
    """The work of integration grows with the angle turned."""
    truth = circle(0.0, 0.4, 50)
    truth[7].twist.twist.angular.z = 1e9
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(truth)
    data.until_stamp(0.4)
    assert all(map(on_turn, data))


def test_odd_quaternions(graph):
    """Zero ones are dropped; unnormalised ones and q against -q say the same attitude."""
    truth = circle(0.0, 1.0, 50)
    for index, message in enumerate(truth):
        q = message.pose.pose.orientation
        factor = (0.0 if index in (7, 8) else (-1.0) ** index * (1.0 + index % 3))
        q.w, q.x, q.y, q.z = (factor * x for x in (q.w, q.x, q.y, q.z))
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(truth)
    data.until_stamp(1.0)
    assert len(data) == 200 and all(map(on_turn, data))
    for m in data:
        half = 0.5 * stamp_ns(m) / SECOND
        q = m.orientation
        assert abs(q.w * math.cos(half) + q.z * math.sin(half)) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize('given', [{}, {'truth__authority': 'pose'}], ids=['twist', 'pose'])
def test_a_first_message_in_motion_gives_no_spike(graph, given):
    truth = [
        odometry(t, (10.0 * t / SECOND, 0.0, 0.0), linear=(10.0, 0.0, 0.0))
        for t in stamps(3.0, 4.0, 50)
    ]
    graph.start(ImuNode, fidelity='transparent', **given)
    data = graph.collect(Imu, '/imu/data')
    graph.feed([*truth, *([odometry(stamp_ns(truth[-1]) + SECOND // 50, (40.2, 0.0, 0.0))])])
    data.until_stamp(4.0)
    for m in data:
        if stamp_ns(m) <= 3.97 * SECOND:
            assert xyz(m.linear_acceleration) == pytest.approx((0.0, 0.0, G0), abs=1e-6)
            assert xyz(m.angular_velocity) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


# ---------------------------------------------------------------------- twists that lie


def in_parent(message):
    """Give the twist in the world frame."""
    q, v = message.pose.pose.orientation, message.twist.twist.linear
    yaw = 2.0 * math.atan2(q.z, q.w)
    v.x, v.y = v.x * math.cos(yaw), v.x * math.sin(yaw)
    return message


def no_twist(message):
    message.twist.twist.linear.x = 0.0
    message.twist.twist.angular.z = 0.0
    return message


def no_child(message):
    message.child_frame_id = ''
    return message


@pytest.mark.parametrize(
    ('lie', 'told'),
    [
        (in_parent, 'truth.twist_frame: parent'),
        (no_twist, 'truth.authority: pose'),
        (no_child, 'truth.twist_frame'),
    ],
)
def test_a_lying_twist_is_warned_about_once(graph, lie, told):
    graph.log()
    graph.start(ImuNode)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(map(lie, circle(0.0, 10.0, 50)))
    data.until_stamp(10.0)
    graph.log().until(lambda m: told in m.msg)
    assert len([m for m in graph.log() if m.name == 'imu' and 'twist' in m.msg]) == 1


@pytest.mark.parametrize(
    ('lie', 'given'),
    [
        (in_parent, {'truth__twist_frame': 'parent'}),
        (no_twist, {'truth__authority': 'pose'}),
    ],
    ids=['twist_frame parent', 'authority pose'],
)
def test_the_parameter_deals_with_it(graph, lie, given):
    graph.log()
    graph.start(ImuNode, fidelity='transparent', **given)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(map(lie, circle(0.0, 10.0, 50)))
    data.until_stamp(9.9)
    for m in data[10:]:
        found = (*xyz(m.angular_velocity), *xyz(m.linear_acceleration))
        # a cubic through poses h apart ripples by 6 (v w^2 h / 8) = 0.03
        assert found == pytest.approx((0, 0, 1, 0, 2, G0), abs=4e-2)
    assert not [m for m in graph.log() if m.name == 'imu' and 'twist' in m.msg]


# ---------------------------------------------------------------------- other sources


def test_acceleration_from_its_topic(graph):
    """The topic alone knows the acceleration: the twist stays the same."""
    graph.start(ImuNode, fidelity='transparent', truth__acceleration='topic')
    data = graph.collect(Imu, '/imu/data')
    accel = graph.publisher(AccelStamped, '/ground_truth/accel')
    for message in rest(0.0, 1.0, 50):
        acceleration = AccelStamped(header=message.header)
        acceleration.accel.linear.x = 0.5
        graph.feed([message])
        accel.publish(acceleration)
    data.until_stamp(1.0)
    for m in data[4:]:
        assert xyz(m.linear_acceleration) == pytest.approx((0.5, 0.0, G0), abs=1e-6)


def test_ned_truth(graph):
    """North at 3 m/s, 20 m up, turning right at 0.5 rad/s: in ENU and FLU turned about."""
    rate, speed = 0.5, 3.0
    truth = []
    for t_ns in stamps(0.0, 1.0, 50):
        yaw = rate * t_ns / SECOND
        position = (
            speed / rate * math.sin(yaw), speed / rate * (1.0 - math.cos(yaw)), -20.0
        )
        q = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        truth.append(odometry(t_ns, position, q, (speed, 0, 0), (0, 0, rate)))
    graph.start(ImuNode, fidelity='transparent', truth__frame='ned')
    graph.start(GpsNode, fidelity='transparent', truth__frame='ned', update_hz=10)
    data = graph.collect(Imu, '/imu/data')
    fix = graph.collect(NavSatFix, '/gps/fix')
    graph.feed(truth, readers=2)
    data.until_stamp(1.0)
    fix.until_stamp(1.0)
    for m in data:
        assert xyz(m.angular_velocity) == pytest.approx((0, 0, -rate), abs=1e-9)
        wanted = (0, -rate * speed, G0)
        assert xyz(m.linear_acceleration) == pytest.approx(wanted, abs=1e-6)
        yaw = math.pi / 2 - rate * stamp_ns(m) / SECOND
        q = m.orientation
        assert abs(q.w * math.cos(yaw / 2) + q.z * math.sin(yaw / 2)) == pytest.approx(1.0)
    for m in fix:
        yaw = rate * stamp_ns(m) / SECOND
        east, north, up = pymap3d.geodetic2enu(
            m.latitude, m.longitude, m.altitude, 47.3764, 8.5476, 460.0
        )
        wanted = (speed / rate * (1.0 - math.cos(yaw)), speed / rate * math.sin(yaw), 20.0)
        assert (east, north, up) == pytest.approx(wanted, abs=1e-4)


def test_ecef_truth(graph):
    """At rest on the equator at 10 degrees east, upright."""
    place = pymap3d.geodetic2ecef(0.0, 10.0, 100.0)
    east = math.radians(10.0)
    # columns: forward = east, left = north, up
    rows = [
        [-math.sin(east), 0.0, math.cos(east)],
        [math.cos(east), 0.0, math.sin(east)],
        [0.0, 1.0, 0.0],
    ]
    w = math.sqrt(1.0 + rows[0][0] + rows[1][1] + rows[2][2]) / 2.0
    q = (
        w,
        (rows[2][1] - rows[1][2]) / (4 * w),
        (rows[0][2] - rows[2][0]) / (4 * w),
        (rows[1][0] - rows[0][1]) / (4 * w),
    )
    given = {'fidelity': 'transparent', 'truth__frame': 'ecef', 'origin': [0.0, 10.0, 0.0]}
    graph.start(ImuNode, **given)
    graph.start(GpsNode, update_hz=10, **given)
    data, fix = graph.collect(Imu, '/imu/data'), graph.collect(NavSatFix, '/gps/fix')
    graph.feed([odometry(t, place, q) for t in stamps(0.0, 1.0, 50)], readers=2)
    data.until_stamp(1.0)
    fix.until_stamp(1.0)
    for m in data:
        assert xyz(m.linear_acceleration) == pytest.approx((0.0, 0.0, G0), abs=1e-6)
        assert abs(m.orientation.w) == pytest.approx(1.0, abs=1e-9)
    for m in fix:
        found = (m.latitude, m.longitude, m.altitude)
        assert found == pytest.approx((0.0, 10.0, 100.0), abs=1e-6)


@pytest.mark.parametrize('given', [{}, {'truth__frame': 'ecef'}, {'truth__authority': 'pose'}])
def test_static_source_needs_no_topic(graph, given):
    graph.log()
    graph.start(ImuNode, fidelity='transparent', truth__source='static', **given)
    fix_node = graph.start(GpsNode, fidelity='transparent', truth__source='static', update_hz=20,
                           **given)
    data, fix = graph.collect(Imu, '/imu/data'), graph.collect(NavSatFix, '/gps/fix')
    data.until_count(100)
    fix.until_count(3)
    assert all(b - a == PERIOD_NS for a, b in zip(data.stamps, data.stamps[1:], strict=False))
    for m in data:
        assert xyz(m.linear_acceleration) == pytest.approx((0.0, 0.0, G0), abs=1e-9)
    for m in fix:
        found = (m.latitude, m.longitude, m.altitude)
        assert found == pytest.approx((47.3764, 8.5476, 460.0), abs=1e-7)
    now_ns = fix_node.node.get_clock().now().nanoseconds
    assert abs(now_ns - fix.stamps[-1]) < 10 * SECOND
    # and back to the topic
    assert graph.set('/imu', truth__source='odometry')[0].successful


# ---------------------------------------------------------------------- mount


def static_transform(parent, child, position, yaw=0.0):
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = position
    q.w, q.z = math.cos(yaw / 2), math.sin(yaw / 2)
    return TFMessage(transforms=[message])


def test_mount_from_tf(graph):
    graph.start(ImuNode, fidelity='transparent', mount__source='tf')
    data = graph.collect(Imu, '/imu/data')
    tf = graph.publisher(TFMessage, '/tf_static', qos=LATCHED)
    tf.publish(static_transform('base_link', 'deck', (0.5, 0.0, 0.0)))
    tf.publish(static_transform('deck', 'imu_link', (0.5, 0.0, 0.0), math.pi / 2))
    moment = iter(stamps(0.0, 1000.0, 50))

    def feeding():
        graph.feed([on_circle(next(moment))])
        return len(data) > 100

    graph.until(feeding, 'samples')
    for m in data:
        assert xyz(m.angular_velocity) == pytest.approx((0, 0, 1), abs=1e-9)
        assert xyz(m.linear_acceleration) == pytest.approx((2.0, 1.0, G0), abs=1e-6)


@pytest.mark.parametrize('at_start', [True, False])
def test_publish_mount_tf(graph, at_start):
    given = {'mount__position': [1.0, 2.0, 3.0], 'frame_prefix': 'robot/'}
    graph.start(ImuNode, publish_mount_tf=at_start, **given)
    if not at_start:
        assert graph.set('/imu', publish_mount_tf=True)[0].successful
    graph.feed([odometry(k * SECOND // 50, child_frame_id='robot/base') for k in range(3)])
    tf = graph.collect(TFMessage, '/tf_static', LATCHED)  # late: it is latched
    (transform,) = tf.until_count(1)[0].transforms
    frames = transform.header.frame_id, transform.child_frame_id
    assert frames == ('robot/base', 'robot/imu_link')
    assert xyz(transform.transform.translation) == (1.0, 2.0, 3.0)
    assert graph.set('/imu', mount__position=[0.0, 0.0, 1.0])[0].successful
    graph.feed([odometry(k * SECOND // 50, child_frame_id='robot/base') for k in range(3, 6)])
    moved = tf.until(lambda m: m.transforms[0].transform.translation.z == 1.0)
    assert len(moved.transforms) == 1 and len(tf) == 2
