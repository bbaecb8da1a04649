"""Parameters of a part, declared once in its settings class, as ROS parameters of a node."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from jaguar_sensors_ros.component import (
    Declaration,
    ParameterError,
    build,
    declarations,
    nearest,
)
from jaguar_sensors_ros.ros import compat
from jaguar_sensors_ros.types import JaguarError

SettingsT = TypeVar('SettingsT')
Values = dict[str, object]

#: names that rclpy itself declares
_RCLPY_NAMES = ('use_sim_time', 'start_type_description_service')
_RCLPY_PREFIXES = ('qos_overrides.',)
#: likeness above which an unknown name is taken for a misspelt one
_TYPO = 0.8


def plain(value: object) -> object:
    """Return a parameter value as bool, int, float, str or list."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return list(value) if isinstance(value, Iterable) else value


class ParameterBridge(Generic[SettingsT]):
    """Keeps the parameters of a node and a settings object the same.

    Parameters
    ----------
    node : Node
        The node; its parameters are declared here.
    settings_class : type
        Where they come from.
    complete : callable
        Returns the values in effect for those that were given explicitly (a grade sets
        others).
    foreign : iterable of str
        Names that belong to other nodes of this package: in a shared file they are no error.

    Raises
    ------
    ParameterError
        if a value given from outside is refused, or its name is unknown and looks like ours.
    """

    def __init__(
        self,
        node: Node,
        settings_class: type[SettingsT],
        complete: Callable[[Values], Values] = dict,
        foreign: Iterable[str] = (),
    ) -> None:
        self._node = node
        self._class = settings_class
        self._complete = complete
        self._internal = False
        self._on_change: list[Callable[[SettingsT, frozenset[str]], None]] = []
        self._check: list[Callable[[SettingsT], None]] = []
        self._declared = {d.name: d for d in declarations(settings_class)}
        given = {name: plain(value) for name, value in compat.overrides(node).items()}
        self._refuse_unknown(given, set(foreign))
        self.explicit: Values = {n: v for n, v in given.items() if n in self._declared}
        self.settings = self._build(self.explicit)
        in_effect = self._in_effect(self.explicit)
        for declared in self._declared.values():
            node.declare_parameter(
                declared.name, in_effect[declared.name], descriptor(declared), ignore_override=True
            )
        compat.on_parameters_applied(node, self._applied)
        node.add_on_set_parameters_callback(self._validate)

    def on_change(
        self,
        apply: Callable[[SettingsT, frozenset[str]], None],
        check: Callable[[SettingsT], None] | None = None,
    ) -> None:
        """Call ``check`` (may raise) before a set, and ``apply`` after it with the names."""
        self._on_change.append(apply)
        if check is not None:
            self._check.append(check)

    def assign(self, name: str, value: object) -> None:
        """Set a parameter from inside the node, as a user would.

        Raises
        ------
        ParameterError
            if the value is refused.
        """
        (result,) = self._node.set_parameters([Parameter(name, value=value)])
        if not result.successful:
            raise ParameterError(name, value, result.reason)

    def _build(self, explicit: Values) -> SettingsT:
        return build(self._class, self._complete(explicit))

    def _in_effect(self, explicit: Values) -> Values:
        values: Values = {name: plain(d.default) for name, d in self._declared.items()}
        values.update(self._complete(explicit))
        return values

    def _refuse_unknown(self, given: Values, foreign: set[str]) -> None:
        prefixes = {name.split('.')[0] + '.' for name in self._declared if '.' in name}
        strangers = []
        for name, value in given.items():
            if name in self._declared or name in _RCLPY_NAMES or name in foreign:
                continue
            if name.startswith(_RCLPY_PREFIXES):
                continue
            alike = difflib.get_close_matches(name, self._declared, n=1, cutoff=_TYPO)
            if alike or any(name.startswith(prefix) for prefix in prefixes):
                hint = nearest(name, self._declared)
                raise ParameterError(name, value, f'no such parameter; {hint}')
            strangers.append(name)
        strangers += [name for name in given if name in foreign and name not in self._declared]
        if strangers:
            self._node.get_logger().warning(
                f'parameters of other nodes are ignored: {", ".join(sorted(strangers))}'
            )

    def _validate(self, parameters: list[Parameter]) -> SetParametersResult:
        ours = {p.name: plain(p.value) for p in parameters if p.name in self._declared}
        if self._internal or not ours:
            return SetParametersResult(successful=True)
        try:
            for name, value in ours.items():
                self._declared[name].check(value)
            settings = self._build({**self.explicit, **ours})
            for check in self._check:
                check(settings)
        except JaguarError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _applied(self, parameters: list[Parameter]) -> None:
        ours = {p.name: plain(p.value) for p in parameters if p.name in self._declared}
        if self._internal or not ours:
            return
        self.explicit.update(ours)
        self.settings = self._build(self.explicit)
        self._show_in_effect()
        for apply in self._on_change:
            apply(self.settings, frozenset(ours))

    def _show_in_effect(self) -> None:
        """Make the parameters that follow from others show their value in effect."""
        changed = [
            Parameter(name, value=value)
            for name, value in self._in_effect(self.explicit).items()
            if plain(self._node.get_parameter(name).value) != value
        ]
        if changed:
            self._internal = True
            try:
                self._node.set_parameters(changed)
            finally:
                self._internal = False


def descriptor(declared: Declaration) -> Any:
    """Return the ROS descriptor of a declaration; the type may vary (int, float, list)."""
    unit = f' [{declared.unit}]' if declared.unit else ''
    return ParameterDescriptor(
        name=declared.name,
        description=declared.doc + unit,
        additional_constraints=f'must be {declared.allowed()}',
        dynamic_typing=True,
    )
