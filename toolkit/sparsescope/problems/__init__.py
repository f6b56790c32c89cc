"""Objectives of every kind, with what can be proved about a point: certificates, constants, λ_max, metrics."""
