"""What the pictures have in common."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg


def write_png(figure: Any, path: Path) -> None:
    """Write a figure into a PNG file, which is complete or not there."""
    canvas: Any = FigureCanvasAgg(figure)
    partial = path.with_name(f'.{path.name}.partial')
    try:
        with partial.open('wb') as file:
            canvas.print_png(file)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
