"""The top of the house: settings, addresses, the command line, the supervisor and the demo."""

__version__ = "0.2.0"
