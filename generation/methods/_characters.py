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
class NameMention:
    """Characters `start:end` of a caption name `character`."""

    start: int
    end: int
    character: Character


def cast(records: Any, movie: str, where: str) -> tuple[Character, ...]:
    """Return the characters of `movie`, or of no movie, in `records` (a list of objects). GenerationError: invalid."""
    if not isinstance(records, list | tuple):
        raise GenerationError(f"{where}: not a list of characters; write it as {EXAMPLE}")
    characters = _parse_cast(json.dumps(records, sort_keys=True), where)
    return tuple(character for character in characters if character.movie in ("", movie) or not movie)


@lru_cache(maxsize=512)
def _parse_cast(text: str, where: str) -> tuple[Character, ...]:
    characters = [_character(record, where) for record in json.loads(text)]
    names = [(character.name, character.movie) for character in characters]
    repeated_name = next((name for name, movie in names if names.count((name, movie)) > 1), None)
    if repeated_name:
        raise GenerationError(f"{where}: {quoted(repeated_name)} occurs twice in one movie; keep one")
    return tuple(sorted(characters, key=lambda character: (character.name, character.movie)))


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


def find_mentions(text: str, characters: Iterable[Character]) -> list[NameMention]:
    """Find the named characters from left to right. The longest name wins, case counts or all is in capitals
    ("JENKO"), "'s" may follow. A name that is a common word counts where only a name fits ("Will Harry win?").
    """
    characters_by_name = {name: character for character in characters for name in (*character.aliases, character.name)}
    by_name = {name.upper(): character for name, character in characters_by_name.items()} | characters_by_name
    if not by_name:
        return []
    matches = [match for match in name_pattern(tuple(by_name)).finditer(text) if not _is_common_word(text, match)]
    return [NameMention(match.start(), match.end(), by_name[match.group()]) for match in matches]


def written(name: str, text: str, spot: NameMention) -> str:
    """Return a name as the text writes the name at `spot`: in capitals if only the text has it so."""
    old = text[spot.start : spot.end]
    capitals = old.isupper() and old not in (spot.character.name, *spot.character.aliases)
    return name.upper() if capitals else name


def _is_common_word(text: str, match: re.Match[str]) -> bool:
    """Return whether the match is rather a word: capital only because it opens a sentence, or all is in capitals."""
    word = match.group()
    if text[: match.start()].rstrip()[-1:] not in SENTENCE_ENDS and not text.isupper():
        return False
    if " " in word or (not lemmas(word.lower()).keys() - {"PROPN"} and word.lower() not in MODALS):
        return False
    return not _is_followed_like_a_name(text[match.end() :]) and not _is_verb_of_name(text, match.end())


def _is_followed_like_a_name(following_text: str) -> bool:
    trimmed = following_text.lstrip()
    genitive = following_text[:2].lower() in ("'s", "’s")
    return genitive or trimmed[:1] in NAME_MARKS or NAME_FOLLOWED.match(trimmed) is not None


def _is_verb_of_name(text: str, offset: int) -> bool:
    """Return whether the next word is a verb in the third person or past: "Rose opens …", "Mark fell"."""
    following = NEXT_WORD.match(text, offset)
    return following is not None and any(tag in ("VBZ", "VBD") for _, tag in verb_readings(following[1].lower()))


@lru_cache(maxsize=512)
def name_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern of whole names, the longest first."""
    inner = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<!\w)(?<!\w[-’'])(?:{inner})(?!\w|-\w|['’](?!s\b)\w|[\u0300-\u036f\u200d\ufe0f])")
