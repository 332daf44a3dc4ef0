"""What people read: warnings, and the lines that `kbench eval` prints."""
