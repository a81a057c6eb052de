"""Tasks that choose several rows, or put them in order and in time, or join their sums by or and not."""
