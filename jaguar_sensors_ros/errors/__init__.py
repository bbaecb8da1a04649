"""Error terms of a sensor triad: stochastic, deterministic, quantisation."""
