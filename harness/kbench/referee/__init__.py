"""The trusted side: owns the problem, the seeds, the truth, the clock and the verdict."""
