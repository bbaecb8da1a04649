"""The fused output of redundant IMUs as a node."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from jaguar_sensors_msgs.msg import RedundancyStatus
from rclpy.node import Node
from sensor_msgs.msg import Imu

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.redundancy.alignment import Aligner
from jaguar_sensors_ros.redundancy.reading import Reader, Reading
from jaguar_sensors_ros.redundancy.settings import FusedSettings
from jaguar_sensors_ros.redundancy.voting import Vote, Voter
from jaguar_sensors_ros.ros import compat, qos
from jaguar_sensors_ros.ros.imu_node import ImuNode
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.suite_terms import SuiteTerms
from jaguar_sensors_ros.ros.wire import encoders, writer
from jaguar_sensors_ros.types import NS_PER_S, ImuSample, JaguarError

#: how far [s] an input may be behind the foremost, on top of the largest latency
_PATIENCE_S = 1.0


class FusedNode(Node):
    """Publishes what a voter makes of the samples of several IMUs: data, data_raw, redundancy.

    Samples are taken in process, when they are published.

    Parameters
    ----------
    inputs : sequence of (str, ImuNode)
        The IMUs by the names that the suite has for them.
    suite : SuiteTerms
        What the suite tells its members.

    Raises
    ------
    JaguarError
        for a parameter that is refused, and if the sample rates differ.
    """

    def __init__(
        self, inputs: Sequence[tuple[str, ImuNode]], suite: SuiteTerms, **node_options: Any
    ) -> None:
        super().__init__('fused', **node_options)
        try:
            self._set_up(inputs, suite)
        except JaguarError:
            self.destroy_node()
            raise

    def _set_up(self, inputs: Sequence[tuple[str, ImuNode]], suite: SuiteTerms) -> None:
        compat.settle_overrides(self, suite.values, suite.foreign)
        self._names = [name for name, _ in inputs]
        self._nodes = [node for _, node in inputs]
        self._bridge: ParameterBridge[FusedSettings] = ParameterBridge(self, FusedSettings)
        self._check(self._bridge.settings)
        self.rate_hz = self._common_rate()
        count = len(inputs)
        self._aligner: Aligner[Reading] = Aligner(count, self.rate_hz)
        self._voter = Voter(count, self._bridge.settings, round(NS_PER_S / self.rate_hz))
        self._bridge.on_change(self._configure, self._check)
        self._said = ''
        self._data = self._advertise(Imu, '~/data')
        self._raw = self._advertise(Imu, '~/data_raw')
        self._encode_data, self._encode_raw = encoders.imu(), encoders.imu()
        self._redundancy = self._advertise(RedundancyStatus, '~/redundancy')
        for index, node in enumerate(self._nodes):
            node.add_tap(_Input(self, index, node))
        self.get_logger().info(
            f'fused from {", ".join(self._names)} at {self.rate_hz:g} Hz, '
            f'{self._bridge.settings.method}'
        )
        self._remark_on_truth()

    def _advertise(self, kind: Any, topic: str) -> Any:
        return qos.overridable(self.create_publisher, kind, topic, qos.data())

    def _check(self, settings: FusedSettings) -> None:
        if settings.min_inputs > len(self._names):
            raise ParameterError(
                'min_inputs', settings.min_inputs, f'there are {len(self._names)} inputs'
            )

    def _remark_on_truth(self) -> None:
        topics = {node.truth_topic for node in self._nodes}
        if len(topics) > 1:
            self.get_logger().warning(
                f'the inputs listen to several ground truths, {", ".join(sorted(topics))}: they '
                'must be the same motion on one time'
            )

    def _common_rate(self) -> float:
        rates = [float(node.settings.sample_rate_hz) for node in self._nodes]
        if len(set(rates)) > 1:
            told = ', '.join(f'{n} {r:g} Hz' for n, r in zip(self._names, rates, strict=True))
            raise JaguarError(
                f'{self.get_fully_qualified_name()}: the inputs must have one sample_rate_hz, '
                f'not {told}'
            )
        return rates[0]

    def _configure(self, settings: FusedSettings, names: frozenset[str]) -> None:
        self._voter.settings = settings

    # ------------------------------------------------------------------ from the inputs

    @property
    def is_wanted(self) -> bool:
        """Whether anyone listens."""
        return any(
            publisher.get_subscription_count()
            for publisher in (self._data, self._raw, self._redundancy)
        )

    def take(self, index: int, reading: Reading) -> None:
        """Take a reading that an input has published."""
        self._aligner.put(index, reading.t_ns, reading)

    def restart(self, index: int) -> None:
        """Take note that the time of an input begins anew."""
        self._aligner.restart(index)

    def move_on(self, index: int) -> None:
        """Fuse what is complete now that the time of an input has gone on."""
        until_ns = self._nodes[index].silent_until_ns
        if until_ns is not None:
            self._aligner.passed(index, until_ns)
        self._aligner.absent = {i for i, node in enumerate(self._nodes) if node.is_broken}
        patience_s = _PATIENCE_S + max(node.settings.latency_s for node in self._nodes)
        for t_ns, readings in self._aligner.complete(patience_s):
            self._publish(self._voter.vote(readings, t_ns), t_ns)

    def fail(self, error: Exception) -> None:
        """Say what went wrong here; the inputs are not concerned."""
        text = f'internal error: {type(error).__name__}: {error}'
        if text != self._said:
            self._said = text
            trace = traceback.format_exception(type(error), error, error.__traceback__)
            self.get_logger().error(f'{text}\n{"".join(trace)}')

    # ------------------------------------------------------------------ out

    def _publish(self, vote: Vote, t_ns: int) -> None:
        settings = self._bridge.settings
        frame_id = settings.frame_prefix + settings.frame_id
        if vote.fused is not None:
            outputs = ((self._data, self._encode_data, True), (self._raw, self._encode_raw, False))
            for publisher, encode, oriented in outputs:
                if publisher.get_subscription_count():
                    covariances = vote.fused.covariances
                    publisher.publish(encode(vote.fused, covariances, frame_id, oriented))
        if self._redundancy.get_subscription_count():
            vote = replace(vote, reasons=tuple(map(self._reason, self._nodes, vote.reasons)))
            status = writer.redundancy(vote, self._names, t_ns, frame_id, settings.method)
            self._redundancy.publish(status)


    def _reason(self, node: ImuNode, reason: str) -> str:
        rate_hz = node.settings.sample_rate_hz
        return reason if rate_hz == self.rate_hz else f'sample_rate_hz is {rate_hz:g}'

    def warn_of_rate(self, node: ImuNode) -> None:
        """Say that an input has left the common rate."""
        self.get_logger().warning(
            f'{node.get_fully_qualified_name()} has sample_rate_hz '
            f'{node.settings.sample_rate_hz:g}, not {self.rate_hz:g}: it is left out',
            throttle_duration_sec=10.0,
        )


class _Input:
    """Sees the samples of one IMU for a fused output; lets no error through to it."""

    def __init__(self, fused: FusedNode, index: int, node: ImuNode) -> None:
        self._fused, self._index, self._node = fused, index, node
        self._read = Reader(node.sensor)

    def sampled(self, sample: ImuSample) -> Callable[[], None]:
        """Return what hands the sample on when it is published."""
        if self._node.settings.sample_rate_hz != self._fused.rate_hz:
            self._fused.warn_of_rate(self._node)
            return _do_nothing
        if not self._fused.is_wanted:
            return _do_nothing
        try:
            return partial(self._try, self._fused.take, self._index, self._read(sample))
        except Exception as error:
            self._fused.fail(error)
            return _do_nothing

    def moved(self) -> None:
        """Let be fused what is complete."""
        self._try(self._fused.move_on, self._index)

    def restarted(self) -> None:
        """Tell that the time begins anew."""
        self._try(self._fused.restart, self._index)

    def _try(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._fused.fail(error)


def _do_nothing() -> None:
    return
