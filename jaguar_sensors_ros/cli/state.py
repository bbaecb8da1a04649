"""state: what sensors say of themselves, once."""

from __future__ import annotations

import argparse
from typing import Any

from jaguar_sensors_ros.cli.graph import DONE, add_command, add_node, open_client


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'print the state of sensors once'
    parser = add_command(commands, 'state', _state, text, 'Without NODE: of all there are.')
    add_node(parser, nargs='*')


def _state(options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        if options.node:
            nodes = [client.find_sensor(name) for name in options.node]
        else:
            nodes = client.all_sensors()
        for node, state in zip(nodes, client.states(nodes), strict=True):
            print(describe(node, state))
    return DONE


def describe(node: str, state: Any) -> str:
    """Return a state message as one line."""
    parts = [
        f'{node}: {state.state_name}',
        f'({", ".join(state.causes)})' if state.causes else '',
        '' if state.valid else 'not valid',
    ]
    numbers = (
        f'{state.type}, fidelity {state.fidelity}, faults {" ".join(state.faults) or "none"}, '
        f'confidence {state.confidence:.2f}, up {state.uptime:.1f} s, '
        f'{state.sample_count} samples'
    )
    return f'{" ".join(filter(None, parts))}; {numbers}'
