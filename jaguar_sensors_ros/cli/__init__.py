"""The command line tool jaguar_sensors."""
