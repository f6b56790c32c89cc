"""Compiled functions on arrays, losses and penalties. They know no concrete loss, penalty or solver."""
