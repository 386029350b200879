"""The token type of all taggers."""

import re
from dataclasses import dataclass, field

# Words keep hyphens ("push-up") and lose a genitive ("man", "'s"); every other non-blank character is a token.
PIECE = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:['’](?:t|re|ll|ve|d|m)\b)?|['’]s\b|['’](?=\s|$)|[^\w\s]|_", re.IGNORECASE)
PARTS = (
    "NOUN",
    "PROPN",
    "VERB",
    "AUX",
    "ADJ",
    "ADV",
    "ADP",
    "DET",
    "PRON",
    "NUM",
    "CCONJ",
    "SCONJ",
    "PART",
    "PUNCT",
    "X",
)


@dataclass(frozen=True, init=False)
class Token:
    """A token: characters `start:end` of the caption, universal part of speech, lower-case lemma, Penn tag of verbs.

    `main`: a tagger found that it is the caption's finite main verb (or that verb's auxiliary).
    """

    start: int
    end: int
    text: str
    part: str
    lemma: str
    tag: str = ""
    main: bool = field(default=False, compare=False, repr=False)

    lower: str = field(init=False, compare=False, repr=False)

    def __init__(
        self, start: int, end: int, text: str, part: str, lemma: str, tag: str = "", main: bool = False
    ) -> None:
        """Set all fields at once: in half the time of a frozen dataclass, and captions have many tokens."""
        lower = text.lower()
        self.__dict__.update(start=start, end=end, text=text, part=part, lemma=lemma, tag=tag, main=main, lower=lower)


def pieces(text: str) -> list[tuple[int, int, str]]:
    """Yield (start, end, text) of each word, genitive and punctuation mark."""
    return [(match.start(), match.end(), match.group()) for match in PIECE.finditer(text)]
