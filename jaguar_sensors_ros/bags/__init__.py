"""Bags and trajectory files in, bags with the topics of simulated sensors out, without ROS."""
