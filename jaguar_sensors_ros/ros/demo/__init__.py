"""The demo: truth, IMU and GPS live, checked, pictured and recorded."""
