"""Parse the parameters `lexicon=` and `pairs=`: "a:b,c d:e|f" as a mapping."""

import re
from collections.abc import Sequence

from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.quoting import quoted, shortened
from generation.errors import GenerationError
from generation.grammar.surface import phrase_pattern

WORD = re.compile(r"[^\W_]+")


def parse_lexicon(text: str, parameter: str) -> dict[str, tuple[str, ...]]:
    """Parse a lexicon as {"a": ("b",), "c d": ("e", "f")} with lower-case keys; GenerationError: an invalid pair."""
    found: dict[str, tuple[str, ...]] = {}
    for piece in filter(str.strip, text.split(",")):
        source, colon, rest = piece.partition(":")
        source = " ".join(source.lower().split())
        targets = tuple(" ".join(target.split()) for target in rest.split("|"))
        if not (colon and source and all(targets)):
            raise _wrong(parameter, f"{quoted(piece.strip())} is not a pair; write it as word:replacement")
        if source in (target.lower() for target in targets):
            raise _wrong(parameter, f"{quoted(piece.strip())} replaces a word by itself; change one side")
        if source in found:
            raise _wrong(parameter, f"{quoted(source)} occurs twice; write its targets as {shortened(source)}:a|b")
        found[source] = targets
    return found


def _wrong(parameter: str, problem: str) -> GenerationError:
    return GenerationError(f"parameter '{parameter}': {problem}")


def parse_pairs(text: str, parameter: str) -> dict[str, tuple[str, ...]]:
    """Parse a lexicon in both directions: "up:down" also gives "down:up"."""
    forward = parse_lexicon(text, parameter)
    both = dict(forward)
    for source, targets in forward.items():
        for target in targets:
            if target.lower() in forward and source in (back.lower() for back in forward[target.lower()]):
                continue
            both[target.lower()] = (*both.get(target.lower(), ()), source)
    return both


def is_mentioned(phrase: str, text: str, replaced: Sequence[tuple[int, int]]) -> bool:
    """Return whether `text` has the phrase, or another form of its single word, outside the spans `replaced`.

    "right-hand" has "right", and "opened" is a form of "opens". "leaves" is not a form of "left", a word by itself.
    """
    pieces, last = [], 0
    for start, end in sorted(replaced):
        pieces.append(text[last:start])
        last = end
    rest = " | ".join([*pieces, text[last:]])
    if " " in phrase:
        return phrase_pattern([phrase]).search(rest) is not None
    wanted = phrase.lower()
    bases = _bases(wanted)
    bases = frozenset({wanted}) if wanted in bases else bases | {wanted}
    return any(word == wanted or not bases.isdisjoint(_bases(word)) for word in map(str.lower, WORD.findall(rest)))


def _bases(word: str) -> frozenset[str]:
    return frozenset(base for several in lemmas(word).values() for base in several)
