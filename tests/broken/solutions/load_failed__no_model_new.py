"""Defines something else."""

x = 1
