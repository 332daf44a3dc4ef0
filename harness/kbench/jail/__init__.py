"""Runs a function in a process that can do little else: namespaces, Landlock, limits, and a keeper beside it.

What each layer covers, and what a machine that lacks one leaves open, is in SECURITY.md. The layers are probed
once and used as far as they work; nothing here needs an external program.
"""
