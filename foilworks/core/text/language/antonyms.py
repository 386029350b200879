"""A small list of opposites for captions. WordNet lacks many: lift, drop, throw, catch, shut, zip."""

from functools import cache

from foilworks.core.text.language.change_of_state import TUPLES

PAIRS = (
    ("open", "close"),
    ("open", "shut"),
    ("push", "pull"),
    ("raise", "lower"),
    ("lift", "drop"),
    ("lift", "lower"),
    ("throw", "catch"),
    ("enter", "exit"),
    ("enter", "leave"),
    ("arrive", "leave"),
    ("appear", "disappear"),
    ("give", "take"),
    ("grow", "shrink"),
    ("load", "unload"),
    ("start", "stop"),
    ("begin", "end"),
    ("ascend", "descend"),
    ("rise", "fall"),
    ("climb", "descend"),
    ("sit", "stand"),
    ("laugh", "cry"),
    ("win", "lose"),
    ("buy", "sell"),
    ("approach", "leave"),
    ("accelerate", "brake"),
    ("advance", "retreat"),
    ("attack", "defend"),
    ("add", "remove"),
    ("attach", "remove"),
    ("insert", "remove"),
    ("hide", "show"),
    ("hide", "reveal"),
    ("send", "receive"),
    ("teach", "learn"),
    ("ask", "answer"),
    ("wake up", "fall asleep"),
    ("float", "sink"),
    ("stretch", "shrink"),
    ("left", "right"),
    ("up", "down"),
    ("in", "out"),
    ("on", "off"),
    ("into", "out of"),
    ("above", "below"),
    ("over", "under"),
    ("inside", "outside"),
    ("front", "back"),
    ("top", "bottom"),
    ("towards", "away from"),
    ("big", "small"),
    ("large", "small"),
    ("tall", "short"),
    ("long", "short"),
    ("young", "old"),
    ("new", "old"),
    ("hot", "cold"),
    ("warm", "cool"),
    ("wet", "dry"),
    ("clean", "dirty"),
    ("full", "empty"),
    ("open", "closed"),
    ("light", "dark"),
    ("bright", "dark"),
    ("fast", "slow"),
    ("quickly", "slowly"),
    ("happy", "sad"),
    ("hard", "soft"),
    ("thick", "thin"),
    ("wide", "narrow"),
    ("heavy", "light"),
    ("loud", "quiet"),
    ("raw", "cooked"),
)


@cache
def _table() -> dict[str, tuple[str, ...]]:
    opposites_by_word: dict[str, set[str]] = {}
    verbs = [(entry.verb, entry.reverse) for entry in TUPLES if entry.reverse]
    for first, second in (*PAIRS, *verbs):
        opposites_by_word.setdefault(first, set()).add(second)
        opposites_by_word.setdefault(second, set()).add(first)
    return {word: tuple(sorted(opposites)) for word, opposites in opposites_by_word.items()}


def antonyms_of(lemma: str) -> tuple[str, ...]:
    """Return the listed opposites, sorted. Each pair applies in both directions."""
    return _table().get(lemma.lower(), ())
