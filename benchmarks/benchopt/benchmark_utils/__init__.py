"""What the files of the benchmark share."""
