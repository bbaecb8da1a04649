"""A node of a tool: joins the graph for a while with a context of its own."""

from __future__ import annotations

import os
from typing import TypeVar

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

GuestT = TypeVar('GuestT', bound='Guest')


class Guest:
    """Joins the graph in a ``with`` block.

    Parameters
    ----------
    name : str
        Of the node; the number of the process is added.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self: GuestT) -> GuestT:
        """Join the graph."""
        self._context = rclpy.Context()
        rclpy.init(
            args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO
        )
        self._node = rclpy.create_node(
            f'{self._name}_{os.getpid()}',
            context=self._context,
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)
