"""Sensors: the chain from a piece of truth to a sample."""
