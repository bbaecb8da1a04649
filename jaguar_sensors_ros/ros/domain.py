"""A ROS domain of one's own, whose processes find one another quickly and meet no others."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from jaguar_sensors_ros.types import JaguarError

#: TCP ports that stand for ROS domains: who is bound to one owns the domain.  They lie outside of
#: the ephemeral ports and of those of DDS
_LOCK_PORTS = 5100
_DOMAINS = range(1, 101)
_PROFILE = '''\
<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com">
  <profiles>
    <participant profile_name="announcing_often" is_default_profile="true">
      <rtps><builtin><discovery_config>
        <leaseAnnouncement><sec>{sec}</sec><nanosec>{nanosec}</nanosec></leaseAnnouncement>
      </discovery_config></builtin></rtps>
    </participant>
  </profiles>
</dds>
'''
#: distributions whose Fast DDS has the old name
_OLD = ('humble', 'iron')


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


def announcing_often(folder: Path, every_s: float) -> dict[str, str]:
    """Return the environment in which Fast DDS announces a process every so often [s].

    By default it does every 3 s.  The first exchange with a new process is often lost: the
    answer to its first announcement comes before it listens.  Then both wait for the next
    announcement of the other one until data flow.  ``folder`` takes a profile of Fast DDS; other
    middlewares take no notice.
    """
    sec, nanosec = divmod(round(1e9 * every_s), 1_000_000_000)
    profile = folder / 'fastdds.xml'
    profile.write_text(_PROFILE.format(sec=sec, nanosec=nanosec))
    product = 'FASTRTPS' if os.environ.get('ROS_DISTRO') in _OLD else 'FASTDDS'
    return {f'{product}_DEFAULT_PROFILES_FILE': str(profile)}
