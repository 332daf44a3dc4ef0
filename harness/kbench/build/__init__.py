"""Runs compilers in a jail and keeps what they made under a content address."""
