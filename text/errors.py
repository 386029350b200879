"""The root of every error that a person can act on; each app has one subclass of it."""


class ActionableError(Exception):
    """Raised with one sentence that names what is wrong and what to do about it.

    Commands print it as a single line and exit 1; pages show it beside the field or as a message.
    """
