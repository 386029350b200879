"""Quote input in messages, with a limited length. Pure."""

import reprlib

# Max quoted characters of a text, and max characters of any other value.
MAX_QUOTED = 160
MAX_SHOWN = 200


class _Short(reprlib.Repr):
    """Representations that use only the start of a long value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxset, self.maxdict = 2, 3, 3, 3, 3
        self.maxother = MAX_SHOWN

    def repr_str(self, x: str, _level: int) -> str:
        return repr(x if len(x) <= MAX_QUOTED else f"{x[: MAX_QUOTED - 1]}…")

    def repr_int(self, x: int, _level: int) -> str:
        # Python does not format numbers of more than 4,300 digits.
        return repr(x) if x.bit_length() <= 128 else "a very large number"


_SHORT = _Short()


def quoted(value: object) -> str:
    """Return `repr(value)` with at most MAX_SHOWN characters, and MAX_QUOTED characters of a text."""
    return shortened(_SHORT.repr(value), MAX_SHOWN)


def shortened(text: str, max_length: int = MAX_QUOTED) -> str:
    """Return the text, or its first characters and an ellipsis, at most `max_length` in total."""
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
