"""Validated inputs: the design matrix, labels, blocks of features, and maps of features."""
