"""Settings, addresses, the command line, the supervisor and the demo: the package on top of all others."""

__version__ = "0.3.0"
