"""The characters for identity swaps, and the positions of their names in a caption."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.verb_forms import verb_readings
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError

# Modals are no words of the lexicon: "Will", "May".
MODALS = frozenset({"will", "may", "might", "can"})
# "" is the start of the text.
SENTENCE_ENDS = ("", ".", "!", "?", ":", ";", "“", '"')
# "Rose's hat", "Mark, …", "Will and Ann", "Hope is …", the end.
NAME_FOLLOWED = re.compile(r"(?i)(?:and|or|is|was|has|had|does|did|who|with)\b")
NAME_MARKS = ("", ",", ".", "!", "?", "”", "’", '"', ")", "]")
NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
FIELDS = frozenset({"name", "gender", "movie", "frequency", "aliases"})
EXAMPLE = '[{"name": "Harry", "gender": "male", "movie": "…", "frequency": 12}]'


@dataclass(frozen=True)
class Character:
    """A character. A swap keeps gender and movie. `frequency`: mentions in the train captions."""

    name: str
    gender: str
    movie: str = ""
    frequency: float = 0.0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Named:
    """Characters `start:end` of a caption name `who`."""

    start: int
    end: int
    who: Character


def cast(given: Any, movie: str, where: str) -> tuple[Character, ...]:
    """Return the characters of `movie`, or of no movie, in `given` (a list of objects). GenerationError: invalid."""
    if not isinstance(given, list | tuple):
        raise GenerationError(f"{where}: not a list of characters; write it as {EXAMPLE}")
    everyone = _parsed(json.dumps(given, sort_keys=True), where)
    return tuple(one for one in everyone if one.movie in ("", movie) or not movie)


@lru_cache(maxsize=512)
def _parsed(text: str, where: str) -> tuple[Character, ...]:
    found = [_character(record, where) for record in json.loads(text)]
    names = [(one.name, one.movie) for one in found]
    twice = next((name for name, movie in names if names.count((name, movie)) > 1), None)
    if twice:
        raise GenerationError(f"{where}: {quoted(twice)} occurs twice in one movie; keep one")
    return tuple(sorted(found, key=lambda one: (one.name, one.movie)))


def _character(record: Any, where: str) -> Character:
    if not isinstance(record, Mapping) or not str(record.get("name", "")).strip() or not record.get("gender"):
        raise GenerationError(f"{where}: not a character: {quoted(record)}; each needs name and gender: {EXAMPLE}")
    unknown = set(record) - FIELDS
    if unknown:
        raise GenerationError(
            f"{where}: {quoted(sorted(unknown)[0])} is not a field of a character; use {', '.join(sorted(FIELDS))}"
        )
    frequency = record.get("frequency", 0)
    if isinstance(frequency, bool) or not isinstance(frequency, int | float) or not 0 <= frequency < 1e12:
        raise GenerationError(
            f"{where}: the frequency of {quoted(record['name'])} is {quoted(frequency)}; give a number from 0"
        )
    aliases = record.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) and alias for alias in aliases):
        raise GenerationError(f"{where}: the aliases of {quoted(record['name'])} are not a list of names")
    return Character(
        str(record["name"]).strip(),
        str(record["gender"]).strip().lower(),
        str(record.get("movie", "")),
        float(frequency),
        tuple(aliases),
    )


def named_in(text: str, characters: Iterable[Character]) -> list[Named]:
    """Find the named characters from left to right. The longest name wins, case counts or all is in capitals
    ("JENKO"), "'s" may follow. A name that is a common word counts where only a name fits ("Will Harry win?").
    """
    named = {name: one for one in characters for name in (*one.aliases, one.name)}
    by_name = {name.upper(): one for name, one in named.items()} | named
    if not by_name:
        return []
    found = [match for match in name_pattern(tuple(by_name)).finditer(text) if not _is_common_word(text, match)]
    return [Named(match.start(), match.end(), by_name[match.group()]) for match in found]


def written(name: str, text: str, spot: Named) -> str:
    """Return a name as the text writes the name at `spot`: in capitals if only the text has it so."""
    old = text[spot.start : spot.end]
    capitals = old.isupper() and old not in (spot.who.name, *spot.who.aliases)
    return name.upper() if capitals else name


def _is_common_word(text: str, match: re.Match[str]) -> bool:
    """Return whether the match is rather a word: capital only because it opens a sentence, or all is in capitals."""
    word = match.group()
    if text[: match.start()].rstrip()[-1:] not in SENTENCE_ENDS and not text.isupper():
        return False
    if " " in word or (not lemmas(word.lower()).keys() - {"PROPN"} and word.lower() not in MODALS):
        return False
    return not _is_followed_as_a_name(text[match.end() :]) and not _is_verb_of_one(text, match.end())


def _is_followed_as_a_name(rest: str) -> bool:
    after = rest.lstrip()
    genitive = rest[:2].lower() in ("'s", "’s")
    return genitive or after[:1] in NAME_MARKS or NAME_FOLLOWED.match(after) is not None


def _is_verb_of_one(text: str, at: int) -> bool:
    """Return whether the next word is a verb in the third person or past: "Rose opens …", "Mark fell"."""
    following = NEXT_WORD.match(text, at)
    return following is not None and any(tag in ("VBZ", "VBD") for _, tag in verb_readings(following[1].lower()))


@lru_cache(maxsize=512)
def name_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern of whole names, the longest first."""
    inner = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<!\w)(?<!\w[-’'])(?:{inner})(?!\w|-\w|['’](?!s\b)\w|[\u0300-\u036f\u200d\ufe0f])")
