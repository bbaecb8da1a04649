# Every target does the set-up it needs. PYTHON names the interpreter (3.10 to 3.13 without ROS).
SHELL := /bin/bash
.DEFAULT_GOAL := help

DURATION ?= 20
TRUTH ?= figure_eight
PYTEST_ARGS ?=
BENCH_ARGS ?=
# Handed on through the environment, so that spaces in a value stay what they are.
export DURATION TRUTH PYTEST_ARGS BENCH_ARGS PYTHON

.PHONY: help setup demo test lint docs bench bench-quick bench-page clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'Variables: PYTHON=python3.12  DURATION=20 (s; 0: until Ctrl-C)  PYTEST_ARGS="-k imu"'
	@echo '           TRUTH=figure_eight (a trajectory or a file)'

setup:  ## set everything up in this folder: Python packages, ROS 2 if none is sourced, the build
	@"$${PYTHON:-python3}" scripts/setup

demo:  ## run truth, IMU and GPS live for DURATION seconds on TRUTH
	@scripts/ros python -m jaguar_sensors_ros.ros.demo --duration "$$DURATION" --truth "$$TRUTH"

test:  ## run the style checks and all tests; PYTEST_ARGS go to pytest
	@scripts/test

lint:  ## run the style checks alone: ruff, mypy, import-linter
	@scripts/lint

docs:  ## write config/*.yaml and docs/parameters.md anew from the declarations
	@scripts/ros python scripts/generate.py

bench:  ## measure speed against floors and peers (under 10 minutes); BENCH_ARGS="--only live"
	@scripts/ros python -m benchmarks $$BENCH_ARGS

bench-quick:  ## the same in about one minute
	@scripts/ros python -m benchmarks --quick $$BENCH_ARGS

bench-page:  ## measure and write docs/performance.md with its picture
	@scripts/ros python -m benchmarks --write $$BENCH_ARGS

clean:  ## remove everything that the other targets made
	@"$${PYTHON:-python3}" scripts/setup --clean
