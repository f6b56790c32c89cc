"""Components that several solvers use."""
