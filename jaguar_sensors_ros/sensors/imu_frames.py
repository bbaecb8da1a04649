"""The increments frames of an IMU, of one sample or of two."""

from __future__ import annotations

from collections.abc import Mapping

from jaguar_sensors_ros.types import ImuSubSample

Frame = tuple[ImuSubSample, ...]


class Frames:
    """Joins samples to frames; frames of two end at even ticks.

    The first frame after power-on or a gap is left out if its first half is missing; where rate
    or frame length change, no increment is lost.
    """

    def __init__(self) -> None:
        #: the last frame that was published
        self.published: Frame = ()
        self.break_off()

    def break_off(self) -> None:
        """Forget a half: what came before a gap in the truth is over."""
        self._pending: Frame | None = None

    def push(
        self, sub: ImuSubSample, k: int, length: int, frozen: Mapping[str, set[int]]
    ) -> Frame:
        """Return the frame that ends at tick ``k``; empty where none does.

        ``length`` is the number of samples in a frame, ``frozen`` names the axes of each channel
        that stay as they were published.
        """
        if length == 1 and not self._pending and not frozen:
            self._pending = ()
            return (sub,)
        fresh, frame = self._pending is None, (*(self._pending or ()), sub)
        if length == 2 and len(frame) == 1 and (k % 2 or fresh):
            self._pending = frame if k % 2 else ()
            return ()
        self._pending = ()
        if frozen and len(self.published) == len(frame):
            pairs = zip(frame, self.published, strict=True)
            frame = tuple(_freeze(new, held, frozen) for new, held in pairs)
        return frame


def _freeze(
    new: ImuSubSample, held: ImuSubSample, frozen: Mapping[str, set[int]]
) -> ImuSubSample:
    values = {'gyro': list(new.delta_theta), 'accel': list(new.delta_v)}
    kept = {'gyro': held.delta_theta, 'accel': held.delta_v}
    for channel, axes in frozen.items():
        for axis in axes:
            values[channel][axis] = kept[channel][axis]
    theta, velocity = values['gyro'], values['accel']
    return ImuSubSample(
        (theta[0], theta[1], theta[2]), (velocity[0], velocity[1], velocity[2]), new.dt_s
    )
