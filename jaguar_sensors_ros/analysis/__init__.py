"""Judging what sensors put out: Allan deviation, acceptance, pictures."""
