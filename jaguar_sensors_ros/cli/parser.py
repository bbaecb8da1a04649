"""The parser of the tool: positional words may stand between options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

#: takes the options once all words are in, and completes or refuses them
Finish = Callable[[argparse.ArgumentParser, argparse.Namespace], None]

_NUMBER = re.compile(r'^-\.?\d.*$')


class Parser(argparse.ArgumentParser):
    """A parser whose subcommands take a number of words, in order, wherever options stand.

    argparse gives a positional of any length only the words before the next option.  A subcommand
    with the positional ``words`` gets the later ones, too; then its default ``finish`` is called.
    """

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> argparse.Namespace:
        """Parse the command line; exits with status 2 for bad input."""
        options: argparse.Namespace
        options, extra = self.parse_known_args(args, namespace)
        if hasattr(options, 'words'):
            options.words = [*options.words, *filter(_is_word, extra)]
            extra = [text for text in extra if not _is_word(text)]
        if extra:
            self.error(f'unrecognized arguments: {" ".join(extra)}')
        if hasattr(options, 'finish'):
            options.finish(options)
        return options


def _is_word(text: str) -> bool:
    return not text.startswith('-') or text == '-' or bool(_NUMBER.match(text))


def add_plain(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
    details: str = '',
) -> argparse.ArgumentParser:
    """Add a subcommand; ``details`` follow the text in its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f'{text[0].upper()}{text[1:]}.{details}'.rstrip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def take_numbers(parser: argparse.ArgumentParser) -> None:
    """Let numbers such as -1e-3 be values and not options."""
    parser._negative_number_matcher = _NUMBER


def check(
    parser: argparse.ArgumentParser, name: str, convert: Callable[[str], Any], text: str
) -> Any:
    """Return a word converted as by the ``type`` of an argument; exit as argparse does."""
    try:
        return convert(text)
    except argparse.ArgumentTypeError as error:
        parser.error(f'argument {name}: {error}')
