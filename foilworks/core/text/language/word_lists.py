"""Readable lists of words in code."""


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of the lines as a set."""
    return frozenset(word for line in lines for word in line.split())
