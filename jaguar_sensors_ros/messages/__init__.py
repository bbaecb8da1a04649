"""Samples into messages and bytes, with the message classes of ROS or without ROS."""
