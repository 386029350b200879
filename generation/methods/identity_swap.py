"""Identity swap (contrast sets, Secs. 3.1 and A.2): "Harry looks at Hermione" -> "Ron looks at Hermione".

Names are from the project's characters: the caption's facts {"characters": [{"name", "gender", "movie", "frequency",
"aliases"}], "movie"} or the parameter `characters`. The first name is always swapped, later ones with chance .5,
for a character of the same movie and gender.

Each foil has the facts `original_frequency` and `swapped_frequency` of its first swap: the number of train captions of
the movie that name the character, counted when the run starts. Without a train split, the characters' own `frequency`.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.text.diff import Edit, apply_edits
from generation.errors import GenerationError
from generation.methods._characters import Character, Named, cast, named_in, written
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "3"
LEARNS_FROM_TRAIN = True
# (movie, character): the number of train captions that name the character; None without a train split.
Counts = Counter[tuple[str, str]]


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")
    cast(params["characters"], "", "parameter 'characters'")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Counts | None:
    """Count the train captions that name each character of their movie."""
    found: Counts = Counter()
    n, movies = 0, dict[str, tuple[Character, ...]]()
    for caption in captions:
        n += 1
        named = named_in(caption.text, _cast(caption, params, movies))
        found.update({(_movie(caption), one.who.name) for one in named})
    return found if n else None


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: Counts | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] different foils per caption; `state` is from `prepare`."""
    check(params)
    movies: dict[str, tuple[Character, ...]] = {}
    for caption in captions:
        characters = _counted(_cast(caption, params, movies), _movie(caption), state)
        named = named_in(caption.text, characters)
        if not named:
            why = "it names none of the characters" if characters else "no characters are given for its movie"
            yield Skip(caption.id, why)
            continue
        yield from _drafts(caption, named, characters, params, mode, seed)


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
    return [replace(one, frequency=float(state[movie, one.name])) for one in characters]


def _facts(swaps: Sequence[tuple[Named, Character]], n_named: int, characters: Sequence[Character]) -> dict[str, Any]:
    facts: dict[str, Any] = {"swapped": [[one.who.name, who.name] for one, who in swaps], "named": n_named}
    if any(one.frequency for one in characters):
        one, other = swaps[0]
        facts |= {"original_frequency": one.who.frequency, "swapped_frequency": other.frequency}
    return facts


def _drafts(
    caption: CaptionInput,
    named: Sequence[Named],
    characters: Sequence[Character],
    params: dict[str, Any],
    mode: str,
    seed: int,
) -> Iterator[FoilDraft | Skip]:
    rng = generator_for(seed, "identity_swap", caption.id)
    made: set[str] = {caption.text}
    # With few characters draws repeat: draw more than requested, and take the different ones.
    for _ in range(4 * params["foils"]):
        swaps = _swaps(named, characters, params["draw"], mode, rng)
        if not swaps:
            break
        edits = [Edit(one.start, one.end, written(who.name, caption.text, one)) for one, who in swaps]
        foil = apply_edits(caption.text, edits)
        if foil not in made:
            facts = _facts(swaps, len(named), characters)
            yield draft_from_edits(caption, edits, method="identity_swap", mode=mode, rank=len(made) - 1, facts=facts)
            made.add(foil)
        if len(made) > params["foils"]:
            return
    if len(made) == 1:
        first = named[0].who
        yield Skip(caption.id, f"the movie has no other {first.gender} character to replace {first.name}")


def _swaps(
    named: Sequence[Named], characters: Sequence[Character], draw: str, mode: str, rng: random.Random
) -> list[tuple[Named, Character]]:
    """Return the swaps; [] if nobody can replace the first character.

    `corrected`: all mentions of a character change together, and nobody becomes a character named in the caption.
    """
    present = {one.who.name for one in named}
    chosen: dict[str, Character | None] = {}
    swaps = []
    for at, one in enumerate(named):
        again = mode != "paper" and one.who.name in chosen
        if not again:
            wanted = at == 0 or rng.random() < 0.5
            taken = set() if mode == "paper" else present | {who.name for who in chosen.values() if who}
            chosen[one.who.name] = _stand_in(one.who, characters, taken, draw, rng) if wanted else None
        who = chosen[one.who.name]
        if who is not None:
            swaps.append((one, who))
        elif at == 0:
            return []
    return swaps


def _stand_in(
    who: Character, characters: Sequence[Character], taken: set[str], draw: str, rng: random.Random
) -> Character | None:
    others = [
        one
        for one in characters
        if one.gender == who.gender and one.movie == who.movie and one.name != who.name and one.name not in taken
    ]
    if not others:
        return None
    if draw == "frequency":
        return rng.choices(others, weights=[1 + one.frequency for one in others])[0]
    return rng.choice(others)
