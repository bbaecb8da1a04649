"""Redundant IMUs brought to one place, compared and fused."""
