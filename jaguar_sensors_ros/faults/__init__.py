"""Failure modes, one small file each, and the board that schedules them."""
