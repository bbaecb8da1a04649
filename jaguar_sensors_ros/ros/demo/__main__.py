"""The demo: truth, IMU and GPS live over DDS, one fault midway, and a verdict.

``python -m jaguar_sensors_ros.ros.demo --duration 20 --truth figure_eight``

Truth, IMU and GPS run as processes of their own in a ROS domain of their own.  The demo listens,
compares every sample with a transparent sensor that it feeds with the same odometry, injects a
gyro bias midway and clears it again, and leaves a picture and a bag behind.  Exit status: 0 if
every stream held its rate and its errors stayed inside the model, 1 if not, 2 for bad input.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from jaguar_sensors_ros.ros.demo.plan import Plan, make_plan, reliable_truth
from jaguar_sensors_ros.ros.demo.processes import Children
from jaguar_sensors_ros.ros.domain import announcing_often, claim_domain, given_domain
from jaguar_sensors_ros.types import JaguarError

#: how often the processes announce themselves, so that none waits for another for long [s]
_ANNOUNCE_S = 0.5


class Stop:
    """Set by the first SIGINT, SIGTERM or SIGHUP; the next one ends the demo at once."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def main(arguments: list[str] | None = None) -> int:
    """Run the demo and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        plan = make_plan(options.truth, options.duration, options.output, options.seed)
        domain = given_domain(os.environ)
        if domain is not None:
            return run(plan, domain, options.patience)
        domain, claim = claim_domain()
        with claim:
            return run(plan, domain, options.patience)
    except JaguarError as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print('demo: FAILED - interrupted')
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='demo', description='Truth, IMU and GPS live over DDS, one fault, and a verdict.'
    )
    parser.add_argument(
        '--truth',
        default='figure_eight',
        help='a built-in trajectory, or a file: EuRoC CSV, TUM, bag (default: %(default)s)',
    )
    parser.add_argument(
        '--duration',
        type=float,
        default=20.0,
        metavar='SECONDS',
        help='longest time to run; 0: to the end of a file, or until Ctrl-C (default: 20)',
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('out/demo'),
        metavar='FOLDER',
        help='folder for picture, bag and logs (default: %(default)s)',
    )
    parser.add_argument('--seed', type=int, default=1, help='seed of the sensors (default: 1)')
    parser.add_argument(
        '--patience',
        type=float,
        default=60.0,
        metavar='SECONDS',
        help='longest time for the nodes to find one another (default: 60)',
    )
    return parser


def run(plan: Plan, domain: int, patience_s: float) -> int:
    """Run a plan in a ROS domain and return the exit status."""
    stop = Stop()
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if os.environ.get('ROS_DISTRO') == 'humble':
        os.environ.setdefault('ROS_LOCALHOST_ONLY', '1')
    _greet(plan, domain)
    plan.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Children(plan.output) as children:
        for name, value in announcing_often(Path(folder), _ANNOUNCE_S).items():
            os.environ.setdefault(name, value)
        children.start('imu_node', {**plan.imu, **reliable_truth()})
        children.start('gps_node', {**plan.gps, **reliable_truth()})
        children.start('truth_node', plan.truth)
        # only now, so that all four processes load ROS at the same time
        from jaguar_sensors_ros.ros.compat import require_interfaces

        require_interfaces()
        from jaguar_sensors_ros.ros.demo.run import DemoRun

        with DemoRun(plan, children, stop, patience_s) as demo:
            reasons = demo.run()
            return demo.close(reasons)


def _greet(plan: Plan, domain: int) -> None:
    length = f'{plan.length_s:.1f} s' if plan.length_s is not None else 'until Ctrl-C'
    sigma = plan.gps['pos_std_dev']
    print(f'demo: {plan.name}, {length}; IMU tactical 200 Hz, GPS {plan.gps["fix_type"]} 5 Hz')
    print(f'      GPS standard deviation [horizontal, vertical]: {sigma} m')
    print('      to look on from another terminal:')
    print(f'      ROS_DOMAIN_ID={domain} scripts/ros jaguar_sensors state', flush=True)


if __name__ == '__main__':
    sys.exit(main())
