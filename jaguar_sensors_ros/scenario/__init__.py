"""Scenario files: what simulated sensors publish, row by row, from a CSV file."""
