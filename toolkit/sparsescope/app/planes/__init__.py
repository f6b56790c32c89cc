"""Planes of two weights: the objective on a plane, its contours with their kinks, and the iterates of solvers on it."""
