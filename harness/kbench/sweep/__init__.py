"""Many pairs: what a configuration asks for, which of it is left, and who does it when."""
