"""The node ``scenario``: plays a scenario file on simulated sensors, each a node of its own.

There is no stream of truth to follow: the time is that of the node's clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter

from jaguar_sensors_ros.component import AUTO, declarations
from jaguar_sensors_ros.ros import compat
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.played_node import PlayedNode
from jaguar_sensors_ros.scenario import rest, stream
from jaguar_sensors_ros.scenario.check import Finding, check
from jaguar_sensors_ros.scenario.fields import SENSORS
from jaguar_sensors_ros.scenario.player import Player
from jaguar_sensors_ros.scenario.reader import ScenarioError
from jaguar_sensors_ros.scenario.settings import PLAYED, ScenarioSettings
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

#: most messages of a sensor published at one wake-up: half of the queue of a reader
_BATCH = 25
#: longest and shortest wait of the timer, and that for a file that is slow [ns]
_LONGEST_NS, _SHORTEST_NS, _SLOW_NS = 20_000_000, 50_000, 1_000_000
#: longest wait where /clock gives the time, which may run at any pace [ns]
_POLL_NS = 2_000_000
#: a clock that goes back by more starts the scenario anew [ns]
_BACK_NS = NS_PER_S
#: a first row later than this is remarked on [ns]
_LATE_NS = 10 * NS_PER_S


class Part(NamedTuple):
    """A sensor and its file, None where it is at rest."""

    node: PlayedNode
    path: Path | None
    alone: str


class ScenarioNode(Node):
    """Makes the sensors, reads ahead and publishes what is due.

    Raises
    ------
    JaguarError
        for a parameter or a file that is refused.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('scenario', **options)
        self.members: list[Node] = []
        self._players: dict[str, Player] = {}
        try:
            self._set_up()
        except BaseException:
            self.destroy_node()
            raise

    def destroy_node(self) -> None:
        """Leave the graph with all sensors."""
        self._stop_players()
        while self.members:
            self.members.pop().destroy_node()
        super().destroy_node()

    # ------------------------------------------------------------------ set-up

    def _set_up(self) -> None:
        own = _names(ScenarioSettings)
        of_sensors = frozenset().union(*(_names(played) for played in PLAYED.values()))
        compat.settle_overrides(self, {}, of_sensors - own)
        bridge: ParameterBridge[ScenarioSettings] = ParameterBridge(self, ScenarioSettings)
        self._settings = bridge.settings
        bridge.on_change(lambda settings, names: None, check=self._refuse_change)
        self._checked: dict[tuple[Path, str], Finding] = {}
        common = _path(self._settings.scenario_file)
        self._parts: list[Part] = []
        for sensor in self._chosen(common):
            self._parts.append(self._make_part(sensor, common, own | of_sensors))
        self._base_ns: int | None = None
        self._now_ns = 0
        # a timer on /clock fires at most once a message, and not while it stands still
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        simulated = self.get_parameter('use_sim_time').value
        self._longest_ns = _POLL_NS if simulated else _LONGEST_NS
        self._timer = self.create_timer(self._longest_ns * 1e-9, self._tick, clock=steady)
        self._second = self.create_timer(1.0, self._each_second, clock=steady)
        named = ', '.join(f'{part.node.kind}_sim' for part in self._parts)
        self.get_logger().info(f'scenario {common or "at rest"}: {named}')

    def _refuse_change(self, settings: ScenarioSettings) -> None:
        if settings != self._settings:
            raise JaguarError('the parameters of this node are fixed once it runs')

    def _chosen(self, common: Path | None) -> list[str]:
        if self._settings.sensors != AUTO:
            return self._settings.named()
        if common is None:
            return list(SENSORS)
        found = self._look(common, '').sensors
        return [name for name in SENSORS if name in found]

    def _look(self, path: Path, alone: str) -> Finding:
        """Check a file once."""
        if (path, alone) not in self._checked:
            self._checked[path, alone] = check(path, alone, self._settings.checked_lines)
        return self._checked[path, alone]

    def _make_part(self, sensor: str, common: Path | None, names: frozenset[str]) -> Part:
        kind = SENSORS[sensor].node
        rules = ['-r', f'__node:={kind}', '-r', f'__ns:={self.get_namespace()}']
        overrides = []
        if self.get_parameter('use_sim_time').value:
            overrides = [Parameter('use_sim_time', value=True)]
        node = PlayedNode(
            kind,
            names,
            self._settings.mark_simulated,
            cli_args=['--ros-args', *rules],
            parameter_overrides=overrides,
        )
        self.members.append(node)
        own = _path(node.settings.file)
        path, alone = (common, '') if own is None else (own, sensor)
        if path is not None:
            found = self._look(path, alone)
            if found.whole and sensor not in found.sensors:
                raise ScenarioError(f'{path}: has no row for {sensor}')
            if found.first_ns > _LATE_NS:
                first_s = found.first_ns / NS_PER_S
                node.get_logger().warning(f'{path}: the first row is at {first_s:.3f} s')
        return Part(node, path, alone)

    # ------------------------------------------------------------------ playing

    def _start_players(self) -> None:
        s = self._settings
        for part in self._parts:
            sensor, rate_hz = f'{part.node.kind}_sim', part.node.settings.rate_hz
            items: Iterator[stream.Item]
            if part.path is None:
                items = stream.at_rest(sensor, rate_hz, rest.at_rest()[sensor])
            else:
                loop = s.loop == 'restart'
                items = stream.play(part.path, sensor, part.alone, loop, rate_hz)
            self._players[sensor] = Player(items, s.queue_size, f'scenario {sensor}')

    def _stop_players(self) -> None:
        players = list(self._players.values())
        self._players = {}
        for player in players:
            player.stop()

    def _tick(self) -> None:
        """Publish what is due, and set the timer to what comes next."""
        now_ns = int(self.get_clock().now().nanoseconds)
        if now_ns <= 0:
            return
        if self._base_ns is not None and now_ns < self._now_ns - _BACK_NS:
            self.get_logger().warning('the clock went back: the scenario starts anew')
            self._stop_players()
            self._base_ns = None
            for part in self._parts:
                part.node.start_anew()
        self._now_ns = now_ns
        if self._base_ns is None:
            self._base_ns = now_ns
            self._start_players()
        elapsed_ns = int((now_ns - self._base_ns) * self._settings.real_time_factor)
        waits = [self._serve(part, elapsed_ns) for part in self._parts]
        wait_ns = min((wait for wait in waits if wait is not None), default=self._longest_ns)
        wait_ns = int(wait_ns / self._settings.real_time_factor)
        self._timer.timer_period_ns = min(max(wait_ns, _SHORTEST_NS), self._longest_ns)
        self._timer.reset()

    def _serve(self, part: Part, elapsed_ns: int) -> int | None:
        """Publish what is due of a sensor; return the scenario time to the next [ns]."""
        player = self._players[f'{part.node.kind}_sim']
        first_ns = 0 if self._settings.start == 'zero' else self._base_ns or 0
        for item in player.due(elapsed_ns, _BATCH):
            part.node.play(item, first_ns)
        if player.failure is not None and not part.node.trouble:
            part.node.trouble = f'the scenario ended: {player.failure}'
            part.node.get_logger().error(part.node.trouble)
        next_ns = player.next_ns()
        if next_ns is None:
            return None if player.finished else _SLOW_NS
        return next_ns - elapsed_ns

    def _each_second(self) -> None:
        for part in self._parts:
            player = self._players.get(f'{part.node.kind}_sim')
            condition = 'waits for the clock'
            if player is not None:
                condition = 'ended' if player.finished else 'yes'
            part.node.report(str(part.path or 'at rest'), condition)


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _names(settings: type) -> frozenset[str]:
    return frozenset(declared.name for declared in declarations(settings))
