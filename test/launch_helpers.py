"""The arguments of the launch files, read without launch, which not every machine has."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SHARED = ROOT / 'jaguar_sensors_ros' / 'ros' / 'launching.py'


def launch_arguments(path):
    """Return name: description of the arguments that a launch file declares."""
    tree = ast.parse(Path(path).read_text(encoding='utf-8'))
    table = next(value for name, value in _assigned(tree) if name == 'ARGUMENTS')
    shared = dict(_assigned(ast.parse(_SHARED.read_text(encoding='utf-8'))))
    rows = [shared[row.attr] if isinstance(row, ast.Attribute) else row for row in table.elts]
    return {row.elts[0].value: getattr(row.elts[3], 'value', None) for row in rows}


def _assigned(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            yield getattr(target, 'id', ''), node.value
