"""The base class of errors that a person can act on; each app has one subclass."""


class ActionableError(Exception):
    """An error with one message: what is wrong, and what to do.

    Commands print it as a single line and exit 1; pages show it next to the field or as a message.

    >>> import foilworks
    >>> try:
    ...     foilworks.read([])
    ... except foilworks.ActionableError as error:
    ...     print(error)
    data: record: there is none; give at least one record
    """
