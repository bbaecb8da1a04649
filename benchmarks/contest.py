"""Measures contenders in turns, each in a process of its own."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.process import PEERS, Child, python

#: a turn takes no longer than this [s]
_LONGEST_S = 300.0


@dataclass(frozen=True)
class Contender:
    """What is measured: a factory (see :mod:`benchmarks.worker`) and its arguments.

    ``amount`` is what a turn produces, in the unit of the contest; ``without`` are packages that
    are to seem absent.
    """

    name: str
    target: str
    amount: float
    arguments: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()


@dataclass
class Score:
    """What a contender came to; ``missing`` says why it could not be measured."""

    contender: Contender
    missing: str = ''
    turns: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        """Amount per second of wall time, turn by turn."""
        return [self.contender.amount / turn['wall_s'] for turn in self.turns]

    @property
    def value(self) -> Any:
        """What the last turn returned."""
        return self.turns[-1]['value']


def run(contenders: list[Contender], turns: int, warm: bool = True) -> dict[str, Score]:
    """Return the scores by name: one turn each to get warm if asked, then ``turns`` that count.

    Raises
    ------
    Broken
        if a contender that is there does not work.
    """
    scores = {contender.name: Score(contender) for contender in contenders}
    with ExitStack() as stack:
        started = [(score, _start(stack, score.contender)) for score in scores.values()]
        there = [(score, child) for score, child in started if _is_there(score, child)]
        for turn in range(0 if warm else 1, turns + 1):
            for score, child in there if turn % 2 else reversed(there):
                result = child.ask(_LONGEST_S, turn=turn)
                if turn:
                    score.turns.append(result)
    return scores


def _start(stack: ExitStack, contender: Contender) -> Child:
    arguments = {**contender.arguments, 'without': contender.without}
    command = python('benchmarks.worker', contender.target, json.dumps(arguments))
    name = contender.name.replace(' ', '_')
    return stack.enter_context(Child(name, command, {'JAGUAR_BENCH_PEERS': str(PEERS)}))


def _is_there(score: Score, child: Child) -> bool:
    """Wait until a contender is ready; tell whether there is one."""
    score.missing = child.answer(_LONGEST_S).get('missing', '')
    return not score.missing
