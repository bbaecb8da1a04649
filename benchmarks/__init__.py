"""Measurements of speed against floors and peers; ``make bench`` runs them.

Not installed, and no test: what is measured is reported as it is.  A group is a module with a
function ``measure(size)`` that returns a :class:`benchmarks.report.Report`; :mod:`benchmarks.bars`
lists what is to be reached.  What is compared is measured in one run, in turns, several times;
medians count, and ratios are medians of the ratios of the turns, so that a machine that slows
down slows both sides.
"""
