"""Receives the ground truth once for all sensors of a process.

Sensors that listen to one topic with one quality of service share a subscription, that of the
first.  Those that also read the truth in the same way share its checks, its change of frame and
its pieces.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.node import Node

from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.ros import codec, qos
from jaguar_sensors_ros.ros.cdr import CodecError
from jaguar_sensors_ros.sensors.settings import SensorSettings, TruthSettings
from jaguar_sensors_ros.truth.intake import RawOdometry, TruthIntake
from jaguar_sensors_ros.truth.track import Push

Listener = Callable[[RawOdometry], None]


class SharedIntake(TruthIntake):
    """An intake that several sensors push the same messages to; each is taken once.

    Parameters
    ----------
    settings : TruthSettings
        How to read the truth.
    local : LocalFrame
        The frame n.
    """

    def __init__(self, settings: TruthSettings, local: LocalFrame) -> None:
        super().__init__(settings, local)
        self.users = 1
        self._taken: RawOdometry | None = None
        self._pushes: list[Push] = []

    def push(self, raw: RawOdometry) -> list[Push]:
        """Take a message, or say again what became of it."""
        if raw is not self._taken:
            self._pushes = TruthIntake.push(self, raw)
            self._taken = raw
        return self._pushes

    def own(self) -> SharedIntake:
        """Return an intake with the same past that one sensor has for itself."""
        if self.users == 1:
            return self
        self.users -= 1
        twin = copy.deepcopy(self)
        twin.users = 1
        return twin


class Channel:
    """The ground truth on one topic.

    Parameters
    ----------
    node : Node
        The node whose remappings, QoS overrides and subscription it has.
    topic : str
        Name of the topic before remapping.
    """

    def __init__(self, node: Node, topic: str) -> None:
        profile = qos.truth()
        self.node = node
        self._listeners: list[Listener] = []
        self._intakes: list[SharedIntake] = []
        #: messages that came, and those of them that were no Odometry
        self.received, self.unreadable = 0, 0
        #: whether the executor is to leave the subscription alone; see :mod:`ros.pump`
        self.is_apart = False
        self._is_raw, self._read = codec.odometry_reader()
        create = partial(node.create_subscription, raw=self._is_raw)
        self.subscription = qos.overridable(create, Odometry, topic, self._take, profile)
        self.topic_name: str = self.subscription.topic_name
        self._kind = (self.topic_name, profile.reliability, profile.history, profile.depth)

    def is_like(self, other: Channel) -> bool:
        """Tell whether the same messages come."""
        return self._kind == other._kind

    def close(self) -> None:
        """End the subscription."""
        self.node.destroy_subscription(self.subscription)

    def add(self, listener: Listener) -> None:
        """Call ``listener`` with each message."""
        self._listeners.append(listener)

    def take_waiting(self, most: int) -> None:
        """Take messages that wait, at most so many, past the executor."""
        for _ in range(most):
            taken = self.subscription.handle.take_message(Odometry, self._is_raw)
            if taken is None:
                return
            self._take(taken[0])

    def _take(self, message: Any) -> None:
        self.received += 1
        try:
            raw = self._read(message)
        except CodecError:
            self.unreadable += 1
            return
        for listener in self._listeners:
            listener(raw)

    def intake(self, settings: SensorSettings) -> SharedIntake:
        """Return the intake for a sensor with these settings.

        It is shared where no message is passed over or comes from elsewhere.
        """
        truth, local = settings.truth, settings.local_frame
        plain = (truth.source, truth.acceleration, settings.mount.source)
        if plain != ('odometry', 'derive', 'parameters'):
            return SharedIntake(truth, local)
        for intake in self._intakes:
            if (intake.settings, intake.local) == (truth, local):
                intake.users += 1
                return intake
        self._intakes.append(SharedIntake(truth, local))
        return self._intakes[-1]


class TruthHub:
    """The ground truth of a process, by topic and quality of service."""

    def __init__(self) -> None:
        self._channels: list[Channel] = []

    def listen(self, node: Node, topic: str, listener: Listener) -> Channel:
        """Call ``listener`` with each message on a topic of a node.

        Raises
        ------
        JaguarError
            for a QoS override that is not valid.
        """
        channel = Channel(node, topic)
        known = next((c for c in self._channels if c.is_like(channel)), None)
        if known is None:
            self._channels.append(channel)
        else:
            channel.close()
            channel = known
        channel.add(listener)
        return channel
