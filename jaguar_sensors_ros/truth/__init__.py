"""Sources of truth: trajectories, files, and the track that joins odometry messages."""
