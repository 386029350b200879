"""Identity swap (contrast sets, Secs. 3.1 and A.2): "Harry looks at Hermione" -> "Ron looks at Hermione".

Names are from the project's characters: the caption's facts {"characters": [{"name", "gender", "movie", "frequency",
"aliases"}], "movie"} or the parameter `characters`. `corrected` swaps the first name that the caption has once, and
only where nothing else is tied to the person (a relative, a role, a possession). `paper` always swaps the first name,
and later ones with chance .5. The new character is of the same movie and gender.

Each foil has the facts `original_frequency` and `swapped_frequency` of its first swap: the number of train captions of
the movie that name the character, counted when the run starts. Without a train split, the characters' own `frequency`.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from foilworks.core.text.diff import Edit, apply_edits
from generation.grammar.identity_ties import names_again, tie
from generation.methods._characters import Character, NameMention, cast, find_mentions, written
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

# With which the balanced draw can choose among several characters.
BEFORE_DRAW = {"foils": 10}
VERSION = "4"
LEARNS_FROM_TRAIN = True
# (movie, character): the number of train captions that name the character; None without a train split.
Counts = Counter[tuple[str, str]]


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")
    cast(params["characters"], "", "parameter 'characters'")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Counts | None:
    """Count the train captions that name each character of their movie."""
    frequencies: Counts = Counter()
    n, movies = 0, dict[str, tuple[Character, ...]]()
    for caption in captions:
        n += 1
        mentions = find_mentions(caption.text, _cast(caption, params, movies))
        frequencies.update({(_movie(caption), mention.character.name) for mention in mentions})
    return frequencies if n else None


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: Counts | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] different foils per caption; `state` is from `prepare`."""
    check(params)
    movies: dict[str, tuple[Character, ...]] = {}
    for caption in captions:
        characters = _counted(_cast(caption, params, movies), _movie(caption), state)
        mentions = find_mentions(caption.text, characters)
        if not mentions:
            why = "it names none of the characters" if characters else "no characters are given for its movie"
            yield Skip(caption.id, why)
            continue
        yield from _drafts(caption, mentions, characters, params, mode, seed)


def _cast(
    caption: CaptionInput, params: dict[str, Any], movies: dict[str, tuple[Character, ...]]
) -> tuple[Character, ...]:
    """Return the caption's own characters, or the project's of its movie (cached in `movies`)."""
    movie = _movie(caption)
    if "characters" in caption.facts:
        return cast(caption.facts["characters"], movie, f"caption {caption.id}: facts.characters")
    if movie not in movies:
        movies[movie] = cast(params["characters"], movie, "parameter 'characters'")
    return movies[movie]


def _movie(caption: CaptionInput) -> str:
    return str(caption.facts.get("movie", ""))


def _counted(characters: Sequence[Character], movie: str, state: Counts | None) -> Sequence[Character]:
    """Return the characters with the counted frequencies."""
    if state is None:
        return characters
    return [replace(character, frequency=float(state[movie, character.name])) for character in characters]


def _facts(
    swaps: Sequence[tuple[NameMention, Character]], n_named: int, characters: Sequence[Character]
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "swapped": [[mention.character.name, substitute.name] for mention, substitute in swaps],
        "named": n_named,
    }
    if any(character.frequency for character in characters):
        mention, substitute = swaps[0]
        facts |= {"original_frequency": mention.character.frequency, "swapped_frequency": substitute.frequency}
    return facts


def _drafts(
    caption: CaptionInput,
    mentions: Sequence[NameMention],
    characters: Sequence[Character],
    params: dict[str, Any],
    mode: str,
    seed: int,
) -> Iterator[FoilDraft | Skip]:
    rng = generator_for(seed, "identity_swap", caption.id)
    texts: set[str] = {caption.text}
    # With few characters draws repeat: draw more than requested, and take the different ones.
    for _ in range(4 * params["foils"]):
        swaps = _swaps(caption.text, mentions, characters, params["draw"], mode, rng)
        if not swaps:
            break
        edits = [
            Edit(mention.start, mention.end, written(substitute.name, caption.text, mention))
            for mention, substitute in swaps
        ]
        foil = apply_edits(caption.text, edits)
        if foil not in texts:
            facts = _facts(swaps, len(mentions), characters)
            yield draft_from_edits(caption, edits, method="identity_swap", mode=mode, rank=len(texts) - 1, facts=facts)
            texts.add(foil)
        if len(texts) > params["foils"]:
            return
    if len(texts) == 1:
        yield Skip(caption.id, _why_none(caption.text, mentions, mode))


def _why_none(text: str, mentions: Sequence[NameMention], mode: str) -> str:
    if mode != "paper" and (why := tie(text)):
        return why
    if mode != "paper" and not _swappable(text, mentions):
        return "each of its names occurs twice"
    first = mentions[0].character
    return f"the movie has no other {first.gender} character to replace {first.name}"


def _swaps(
    text: str,
    mentions: Sequence[NameMention],
    characters: Sequence[Character],
    draw: str,
    mode: str,
    rng: random.Random,
) -> list[tuple[NameMention, Character]]:
    """Return the swaps; [] if nobody can replace the first character."""
    if mode != "paper":
        return _one_swap(text, mentions, characters, draw, rng)
    swaps = []
    for index, mention in enumerate(mentions):
        is_swapped = index == 0 or rng.random() < 0.5
        substitute = _stand_in(mention.character, characters, frozenset(), draw, rng) if is_swapped else None
        if substitute is not None:
            swaps.append((mention, substitute))
        elif index == 0:
            return []
    return swaps


def _one_swap(
    text: str, mentions: Sequence[NameMention], characters: Sequence[Character], draw: str, rng: random.Random
) -> list[tuple[NameMention, Character]]:
    """Return one swap, for a character that the caption does not name, even misspelt."""
    if tie(text):
        return []
    present = {mention.character.name for mention in mentions}
    for mention in _swappable(text, mentions):
        taken_names = present | {
            character.name for character in characters if names_again(text, character.name, mention.start, mention.end)
        }
        substitute = _stand_in(mention.character, characters, taken_names, draw, rng)
        if substitute is not None:
            return [(mention, substitute)]
    return []


def _swappable(text: str, mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return the mentions of the characters that the caption names once."""
    times = Counter(mention.character.name for mention in mentions)
    return [
        mention
        for mention in mentions
        if times[mention.character.name] == 1
        and not names_again(text, mention.character.name, mention.start, mention.end)
    ]


def _stand_in(
    character: Character, characters: Sequence[Character], taken_names: Set[str], draw: str, rng: random.Random
) -> Character | None:
    candidates = [
        candidate
        for candidate in characters
        if candidate.gender == character.gender
        and candidate.movie == character.movie
        and candidate.name != character.name
        and candidate.name not in taken_names
    ]
    if not candidates:
        return None
    if draw == "frequency":
        return rng.choices(candidates, weights=[1 + candidate.frequency for candidate in candidates])[0]
    return rng.choice(candidates)
