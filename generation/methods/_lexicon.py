"""Parse the parameters `lexicon=` and `pairs=`: "a:b,c d:e|f" as a mapping."""

from foilworks.core.text.quoting import quoted, shortened
from generation.errors import GenerationError


def parse_lexicon(text: str, parameter: str) -> dict[str, tuple[str, ...]]:
    """Parse a lexicon as {"a": ("b",), "c d": ("e", "f")} with lower-case keys; GenerationError: an invalid pair."""
    lexicon: dict[str, tuple[str, ...]] = {}
    for piece in filter(str.strip, text.split(",")):
        source, colon, target_list = piece.partition(":")
        source = " ".join(source.lower().split())
        targets = tuple(" ".join(target.split()) for target in target_list.split("|"))
        if not (colon and source and all(targets)):
            raise _wrong(parameter, f"{quoted(piece.strip())} is not a pair; write it as word:replacement")
        if source in (target.lower() for target in targets):
            raise _wrong(parameter, f"{quoted(piece.strip())} replaces a word by itself; change one side")
        if source in lexicon:
            raise _wrong(parameter, f"{quoted(source)} occurs twice; write its targets as {shortened(source)}:a|b")
        lexicon[source] = targets
    return lexicon


def _wrong(parameter: str, problem: str) -> GenerationError:
    return GenerationError(f"parameter '{parameter}': {problem}")


def parse_pairs(text: str, parameter: str) -> dict[str, tuple[str, ...]]:
    """Parse a lexicon in both directions: "up:down" also gives "down:up"."""
    forward = parse_lexicon(text, parameter)
    pairs = dict(forward)
    for source, targets in forward.items():
        for target in targets:
            if target.lower() in forward and source in (
                reverse_target.lower() for reverse_target in forward[target.lower()]
            ):
                continue
            pairs[target.lower()] = (*pairs.get(target.lower(), ()), source)
    return pairs
