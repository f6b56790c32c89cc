"""Formulas that the files of the benchmark share."""
