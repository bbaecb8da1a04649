"""completion: the tab key in a shell."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import Any

from jaguar_sensors_ros.cli.completers import complete_files
from jaguar_sensors_ros.cli.graph import DONE
from jaguar_sensors_ros.cli.parser import add_plain
from jaguar_sensors_ros.types import JaguarError

_TOOL = 'jaguar_sensors'
_DETAILS = '''
Prints what a shell needs to complete subcommands, options, nodes, failure modes, targets, axes,
parameters and files with the tab key. Nodes are those that run now, in ROS_DOMAIN_ID.

Put the line into the file that the shell reads at its start, after ROS 2 is sourced there:
  eval "$(jaguar_sensors completion bash)"    # ~/.bashrc
  eval "$(jaguar_sensors completion zsh)"     # ~/.zshrc'''
_MISSING = (
    'the tab key needs the Python package argcomplete, which is not installed: pip install '
    'argcomplete, or apt install python3-argcomplete; all else works without it'
)
#: what zsh must have loaded before a completion is registered
_ZSH = '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n'
_ZSH_BASH = 'autoload -Uz bashcompinit && bashcompinit\n'


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'print what a shell needs for the tab key'
    parser = add_plain(commands, 'completion', _run, text, _DETAILS)
    parser.add_argument('shell', choices=('bash', 'zsh'), help='your shell')


def _run(options: argparse.Namespace) -> int:
    try:
        import argcomplete
    except ImportError:
        raise JaguarError(_MISSING) from None
    if hasattr(argcomplete, 'shellcode'):
        code = argcomplete.shellcode([_TOOL], use_defaults=False, shell=options.shell)
    else:  # before 2.0
        code = _code_of_program()
    if options.shell == 'zsh':
        print(_ZSH if 'compdef' in code else _ZSH + _ZSH_BASH, end='')
    print(code, end='' if code.endswith('\n') else '\n')
    return DONE


def _code_of_program() -> str:
    """Return the line for releases that have the code in a program of their own."""
    for name in ('register-python-argcomplete', 'register-python-argcomplete3'):
        if shutil.which(name):
            return f'eval "$({name} --no-defaults {_TOOL})"'
    raise JaguarError(_MISSING)


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and exit, if it is the shell that asks on behalf of the tab key."""
    if '_ARGCOMPLETE' not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        raise SystemExit(1) from None
    complete_files(parser)
    argcomplete.autocomplete(
        parser,
        always_complete_options=False,
        default_completer=argcomplete.completers.ChoicesCompleter({}),
    )
