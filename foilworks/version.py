"""State the version, for modules that must not depend on the public names of the package."""

__version__ = "0.3.0"
