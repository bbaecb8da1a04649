"""The mount of a sensor from static transforms."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_ros.nav.rotation import (
    add,
    quat_conjugate,
    quat_multiply,
    quat_normalise,
    rotate,
    rotate_back,
    subtract,
)
from jaguar_sensors_ros.ros.reader import vector
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, Quat, Vec3

Pose = tuple[Vec3, Quat]


class StaticTree:
    """Collects static transforms and answers where one frame sits in another."""

    def __init__(self) -> None:
        self._parent: dict[str, tuple[str, Pose]] = {}

    def add(self, message: Any) -> None:
        """Take a tf2_msgs/TFMessage."""
        for item in message.transforms:
            q = item.transform.rotation
            pose = (
                vector(item.transform.translation),
                quat_normalise((q.w, q.x, q.y, q.z)),
            )
            self._parent[item.child_frame_id] = (item.header.frame_id, pose)

    def find(self, base: str, frame: str) -> Pose | None:
        """Return position and q of ``frame`` in ``base``, or None if they are not connected."""
        below, above = self._to_root(frame), self._to_root(base)
        if below[0] != above[0]:
            return None
        (p_f, q_f), (p_b, q_b) = below[1], above[1]
        return (
            rotate_back(q_b, subtract(p_f, p_b)),
            quat_multiply(quat_conjugate(q_b), q_f),
        )

    def _to_root(self, frame: str) -> tuple[str, Pose]:
        position, q = ZERO3, IDENTITY_QUAT
        visited = {frame}
        while frame in self._parent:
            frame, (offset, turn) = self._parent[frame]
            position = add(offset, rotate(turn, position))
            q = quat_multiply(turn, q)
            if frame in visited:
                break
            visited.add(frame)
        return frame, (position, q)
