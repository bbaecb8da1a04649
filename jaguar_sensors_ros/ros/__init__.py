"""The ROS side: nodes, parameters, messages. The only place that imports rclpy."""
