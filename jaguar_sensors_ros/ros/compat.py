"""What differs between ROS 2 releases, and how a node is run.

Humble to the newest; each absence is looked up here and nowhere else.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from jaguar_sensors_ros.types import JaguarError

#: longest time [s] a signal waits; an untimed spin of the events executor never returns
_SPIN_TIMEOUT_S = 0.2
#: most events served at once; a bound only
_MOST_EVENTS = 10_000

MISSING_INTERFACES = '''\
The package jaguar_sensors_msgs is not built or not sourced.  colcon does not look for packages
below a package; in the workspace build with
  colcon build --base-paths src src/jaguar_sensors_ros/jaguar_sensors_msgs
and source install/setup.bash, or run `make setup` in the repository and start programs with
scripts/ros.'''


def require_interfaces() -> None:
    """Exit with status 2 and a way out if jaguar_sensors_msgs cannot be imported."""
    try:
        import jaguar_sensors_msgs.msg  # noqa: F401
    except ImportError as error:
        print(f'{MISSING_INTERFACES}\n({error})', file=sys.stderr)
        raise SystemExit(2) from None


def make_executor() -> Any:
    """Return the events executor where it exists, else the single-threaded one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def serve_waiting(executor: Any, turns: int) -> None:
    """Let an executor do what waits by now.

    The events executor keeps one event for each message and does one in a turn, so behind a
    clock that ticks faster than the turns all else would wait for ever: there a task is queued
    and everything before it is done.  The single-threaded one looks at all anew after each
    round, and so many turns are enough.
    """
    if isinstance(executor, SingleThreadedExecutor):
        for _ in range(turns):
            executor.spin_once(timeout_sec=0.0)
        return
    last = executor.create_task(_do_nothing)
    for _ in range(_MOST_EVENTS):
        if last.done():
            return
        executor.spin_once(timeout_sec=0.0)


def _do_nothing() -> None:
    return


def publishing(publisher: Any) -> Callable[[Any], None]:
    """Return what publishes a message or its bytes, the bytes without the checks of each call."""
    publish: Callable[[Any], None] = publisher.publish
    direct: Callable[[bytes], None] = getattr(publisher.handle, 'publish_raw', publish)

    def publish_either(message: Any) -> None:
        if type(message) is bytes:
            direct(message)
        else:
            publish(message)

    return publish_either


def waiting(subscriptions: list[Any]) -> Callable[[int], bool] | None:
    """Return what waits up to so many nanoseconds for messages and tells whether there are any.

    None where this rclpy has no wait set that can be used for it.
    """
    try:
        from rclpy.impl.implementation_singleton import rclpy_implementation

        handles = [subscription.handle for subscription in subscriptions]
        context = rclpy.get_default_context().handle
        with context:
            wait_set = rclpy_implementation.WaitSet(len(handles), 0, 0, 0, 0, 0, context)

        def wait(timeout_ns: int) -> bool:
            wait_set.clear_entities()
            for handle in handles:
                wait_set.add_subscription(handle)
            wait_set.wait(timeout_ns)
            return bool(wait_set.get_ready_entities('subscription'))

        wait(0)
    except (ImportError, AttributeError, TypeError):
        return None
    return wait


def overrides(node: Node) -> dict[str, Any]:
    """Return all parameters given from outside, declared or not."""
    given: dict[str, Parameter] = node._parameter_overrides
    return {name: parameter.value for name, parameter in given.items()}


def settle_overrides(
    node: Node, beneath: Mapping[str, object], without: Iterable[str]
) -> None:
    """Change the parameters given from outside before they are declared.

    Parameters
    ----------
    node : Node
        The node; what it declared already is left alone.
    beneath : mapping
        Values for those that were not given.
    without : iterable of str
        Names to forget: those of another node that came to all nodes of the process.
    """
    given: dict[str, Parameter] = node._parameter_overrides
    for name in without:
        given.pop(name, None)
    for name, value in beneath.items():
        given.setdefault(name, Parameter(name, value=value))


def on_parameters_applied(node: Node, callback: Callable[[list[Parameter]], None]) -> None:
    """Call ``callback`` with the parameters after each set that succeeded.

    Humble has no post-set callback: there the two methods by which every set goes are wrapped.
    """
    if hasattr(node, 'add_post_set_parameters_callback'):
        node.add_post_set_parameters_callback(callback)
        return
    set_each, set_together = node.set_parameters, node.set_parameters_atomically

    def set_parameters(parameters: list[Parameter]) -> list[Any]:
        results = []
        for parameter in parameters:
            results += set_each([parameter])
            if results[-1].successful:
                callback([parameter])
        return results

    def set_parameters_atomically(parameters: list[Parameter]) -> Any:
        result = set_together(parameters)
        if result.successful:
            callback(parameters)
        return result

    node.set_parameters = set_parameters
    node.set_parameters_atomically = set_parameters_atomically


class _Stop:
    """Set by SIGINT and SIGTERM."""

    asked = False

    def __init__(self) -> None:
        _Stop.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        _Stop.asked = True

    def ignore_more(self) -> None:
        """Let no further signal cut the exit short."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def asked_to_stop() -> bool:
    """Tell whether a signal has asked the process to end, for what takes long to make."""
    return _Stop.asked


def nodes_of(node: Node) -> list[Node]:
    """Return a node and those that belong to it (an attribute ``members``), if any."""
    return [node, *getattr(node, 'members', ())]


def spin(node: Node, until: Callable[[], bool]) -> None:
    """Serve a node and its members until ``until`` says so or the context is shut down."""
    from jaguar_sensors_ros.ros.pump import Pump

    executor = make_executor()
    for one in nodes_of(node):
        executor.add_node(one)
    pump = Pump(executor, nodes_of(node))
    gc.collect()
    gc.freeze()
    try:
        while rclpy.ok() and not until():
            if pump.takes_over():
                pump.run()
            else:
                executor.spin_once(timeout_sec=_SPIN_TIMEOUT_S)
    except ExternalShutdownException:
        pass
    finally:
        for one in nodes_of(node):
            executor.remove_node(one)
        executor.shutdown()


def run(make_node: Callable[[], Node], args: list[str] | None = None) -> int:
    """Make a node, serve it until SIGINT or SIGTERM, and return the exit status.

    0 after a clean end, 2 for bad input.  A node may end by itself by setting an attribute
    ``finished`` to True.
    """
    stop = _Stop()
    node: Node | None = None
    try:
        _initialise(args)
        node = make_node()
        spin(node, lambda: stop.asked or bool(getattr(node, 'finished', False)))
    except (JaguarError, ParameterException) as error:
        print(f'{os.path.basename(sys.argv[0])}: {error}', file=sys.stderr)
        return 2
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        stop.ignore_more()
    return 0


def _initialise(args: list[str] | None) -> None:
    """Initialise rclpy without its signal handlers; JaguarError for bad ROS arguments."""
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        text = re.sub(r', at /[^,]*', '', str(error).splitlines()[0])
        if text.startswith('['):
            text = f'unknown ROS arguments {text}'
        if 'Sequence should be of same type' in text:
            text += ' (write all numbers of a list with a decimal point, or none)'
        raise JaguarError(text) from None
