"""What is handed in, validated: the design matrix, labels, blocks of features, and maps of features."""
