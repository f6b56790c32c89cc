"""The version of the package: the only place where it is written."""

__version__ = "0.2.0.dev0"
