"""A ROS domain of one's own, so that demos and test runs on one machine do not meet."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from jaguar_sensors_ros.types import JaguarError

#: TCP ports that stand for ROS domains: who is bound to one owns the domain.  They lie outside of
#: the ephemeral ports and of those of DDS
_LOCK_PORTS = 5100
_DOMAINS = range(1, 101)


def claim_domain() -> tuple[int, socket.socket]:
    """Return a free domain and the socket that holds it; the claim ends with the process.

    Raises
    ------
    JaguarError
        if no domain is free.
    """
    start = os.getpid() % len(_DOMAINS)
    for domain in (*_DOMAINS[start:], *_DOMAINS[:start]):
        claim = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            claim.bind(('127.0.0.1', _LOCK_PORTS + domain))
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise JaguarError('all ROS domains from 1 to 100 are in use; set ROS_DOMAIN_ID')


def given_domain(environment: Mapping[str, str]) -> int | None:
    """Return the domain that the environment names, or None.

    Raises
    ------
    JaguarError
        if ROS_DOMAIN_ID is no whole number.
    """
    given = environment.get('ROS_DOMAIN_ID', '')
    if given and not given.isdecimal():
        raise JaguarError(f'ROS_DOMAIN_ID = {given!r}: must be a whole number')
    return int(given) if given else None
