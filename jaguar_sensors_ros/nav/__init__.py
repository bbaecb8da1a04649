"""Navigation mathematics as pure functions: rotations, the Earth, frames, kinematics."""
