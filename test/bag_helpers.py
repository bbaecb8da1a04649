"""Bags with odometry and poses of a known motion, written and read without ROS."""

from __future__ import annotations

import math
from pathlib import Path

from jaguar_sensors_ros.bags.writer import BagWriter
from jaguar_sensors_ros.messages.offline import OfflineTypes
from jaguar_sensors_ros.messages.writer import Writer
from jaguar_sensors_ros.truth.trajectory import FigureEight

SECOND = 10**9
ODOMETRY = 'nav_msgs/msg/Odometry'
TYPES = OfflineTypes()
WRITER = Writer(TYPES)


def stamps(start_s, end_s, rate_hz):
    """Return instants [ns], both ends included."""
    count = round((end_s - start_s) * rate_hz)
    return [round(start_s * SECOND + i * SECOND / rate_hz) for i in range(count + 1)]


def odometry(t_ns, child='base_link', source=None):
    """Return Odometry of the figure eight."""
    s = (source or FigureEight()).at(t_ns)
    message = TYPES.of(ODOMETRY)(header=WRITER.header(t_ns, 'map'), child_frame_id=child)
    p = message.pose.pose.position
    p.x, p.y, p.z = s.p_n
    message.pose.pose.orientation = WRITER.quaternion(s.q_nb)
    message.twist.twist.linear = WRITER.vector(s.v_nb_b)
    message.twist.twist.angular = WRITER.vector(s.omega_nb_b)
    return message


def pose(kind, t_ns):
    """Return a message with the pose of the figure eight."""
    s = FigureEight().at(t_ns)
    message = TYPES.of(f'geometry_msgs/msg/{kind}')(header=WRITER.header(t_ns, 'map'))
    if kind == 'TransformStamped':
        message.child_frame_id = 'body'
        message.transform.translation = WRITER.vector(s.p_n)
        message.transform.rotation = WRITER.quaternion(s.q_nb)
        return message
    inner = message.pose if kind == 'PoseStamped' else message.pose.pose
    inner.position.x, inner.position.y, inner.position.z = s.p_n
    inner.orientation = WRITER.quaternion(s.q_nb)
    return message


def write(path, topics, storage='mcap', latched=()):
    """Write a bag of topics: lists of (time in the bag or None for the stamp, message)."""
    kinds = {name: messages[0][1].type_name for name, messages in topics.items()}
    bag = BagWriter(Path(path), kinds, frozenset(latched), storage)
    every = [
        (stamp(message) if t_ns is None else t_ns, name, message)
        for name, messages in topics.items()
        for t_ns, message in messages
    ]
    for t_ns, name, message in sorted(every, key=lambda one: one[0]):
        bag.write(name, t_ns, TYPES.serialize(message))
    bag.finish()
    return Path(path)


def drive(path, end_s=5.0, rate_hz=50.0, name='/odom', **options):
    """Write a bag with odometry of the figure eight, from 1 s on."""
    return write(
        path, {name: [(None, odometry(t)) for t in stamps(1.0, end_s, rate_hz)]}, **options
    )


def stamp(message):
    """Return the stamp of a message [ns]."""
    return message.header.stamp.sec * SECOND + message.header.stamp.nanosec


def read(path):
    """Return time, message and bytes of all messages of a bag, by topic."""
    from rosbags.highlevel import AnyReader

    found = {}
    with AnyReader([Path(path)]) as reader:  # by the definitions in the bag alone
        for connection, t_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            found.setdefault(connection.topic, []).append((t_ns, message, bytes(data)))
    return found


def near(a, b, tolerance):
    """Tell whether two vectors differ by no more."""
    return math.dist(a, b) <= tolerance
