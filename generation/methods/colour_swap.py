"""Colour swap: "A red ball hits a blue box" -> "A blue ball hits a red box".

The foil has the caption's own words: only the assignment of colours differs. Not swapped, since the foil could be true:
colours of one thing ("red and white shirt"), of two things of one name ("a red car and a blue car"), and names of
things ("orange juice", "an orange").
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from foilworks.core.text.language.appearance import BODY
from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.grammar.surface import phrase_pattern, replace_phrase, word_set
from generation.grammar.swap_refusals import SYMMETRIC
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Shortfall, Skip, draft_from_edits

VERSION = "3"
COLOURS = word_set(
    "red orange yellow green blue purple violet pink brown black white grey gray beige turquoise golden tan navy",
    "maroon silver teal gold magenta khaki aqua cyan crimson scarlet lavender burgundy violet lilac",
)
SHADES = frozenset({"light", "dark", "bright", "pale", "deep", "hot", "neon", "royal", "sky"})
# Things that nature, a cook or a calendar colours: only what people make and choose has any colour.
NATURE = BODY | word_set(
    "grass snow sky water field sand sea ocean lake river pond stream sun moon cloud leaf tree forest bush flower",
    "plant hill mountain rock stone dirt mud ice beach ground land desert soil lawn meadow fire flame smoke dust",
    "shadow light dark day night sunset sunrise foam wave rain fog dandelion rose hay straw wood log branch earth",
    "cliff landscape skin hair beard mustache moustache eyebrow fur mane tail feather spot egg yolk onion pepper",
    "carrot tomato apple lemon lime mango cake potato bread meat sauce soup salad rice bean banana grape cherry",
    "berry cheese butter milk chocolate candy food fruit vegetable herb spice garlic mushroom broccoli cabbage sugar",
    "flour dough batter cream mixture belt card rind jay bear area part side photo picture friday house-light",
    "lightning half pulp peel side item piece wine cotton paint liquid powder skies birds pitbull labrador doberman",
    "retriever terrier collie greyhound poodle",
)
LIGHTS = word_set("light lights stage sign screen lighting spotlight lamp wall background display")
# What both sides do: colours that change places say the same.
BOTH = SYMMETRIC | word_set(
    "play stand sit pose talk walk run wait dance hang lie be have wear share look jump ride pass"
)
SAME = {"gray": "grey", "violet": "purple"}
PATTERN = phrase_pattern(sorted(COLOURS))
# With its colour each is the name of a thing, whatever its actual colour: a foil would not be English.
KINDS = word_set(
    "juice wine pepper peppers tea onion onions coffee belt card bean beans rice bread sugar cabbage beer meat board",
)
# One of several is taken up again.
OTHERS = frozenset({"other", "others", "another", "one", "both", "each", "together"})
SAME_COLOUR = ("same", "same-colored", "matching", "similar", "identical")
# Only these may be between two colours of one thing.
JOINING = word_set("and or , / & - the a an")
# Keeps the time linear for captions of 10^6 characters.
MAX_COLOURS = 12


@dataclass(frozen=True)
class ColourMention:
    """A colour in the caption: its last token and first character, the colour ("light blue"), its thing's lemma."""

    token_index: int
    start: int
    colour: str
    noun: str


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip | Shortfall]:
    """Make up to params["foils"] foils per caption, each of another pair of colours. Both modes do the same."""
    check(params)
    tags = tagger(params["tagger"])
    for caption in captions:
        if len(list(PATTERN.finditer(caption.text))) < 2:
            yield Skip(caption.id, "it names fewer than two colours")
            continue
        tokens = tags.tag(caption.text)
        colours = _swappable_colours(tokens)
        pairs = [
            pair for pair in combinations(colours, 2) if pair[0].colour != pair[1].colour and _are_apart(tokens, *pair)
        ]
        if not pairs:
            yield Skip(caption.id, "no two of its colours belong to different things")
            continue
        swapped_pairs = generator_for(seed, "colour_swap", caption.id).sample(pairs, min(params["foils"], len(pairs)))
        for rank, (first, second) in enumerate(swapped_pairs):
            spans = [(mention.start, tokens[mention.token_index].end) for mention in (first, second)]
            edits = _exchanged(caption.text, *spans)
            facts = {"things": [first.noun, second.noun], "tagger": tags.name}
            yield draft_from_edits(caption, edits, method="colour_swap", mode=mode, rank=rank, facts=facts)
        if len(swapped_pairs) < params["foils"]:
            yield Shortfall(caption.id, ("no further two of its colours belong to different things",))


def _exchanged(text: str, first: tuple[int, int], second: tuple[int, int]) -> list[Any]:
    return [
        *replace_phrase(text, *first, text[slice(*second)].lower()),
        *replace_phrase(text, *second, text[slice(*first)].lower()),
    ]


def _are_apart(tokens: Sequence[Token], first: ColourMention, second: ColourMention) -> bool:
    """Return whether they belong to different things, or to two of a kind that act differently: "hits a grey car"."""
    if not first.noun or not second.noun:
        return False
    others = {token.lower for index, token in enumerate(tokens) if index not in (first.token_index, second.token_index)}
    if {"one", "other"} <= others or not others.isdisjoint((*SAME_COLOUR, first.colour, second.colour)):
        return False
    if first.noun != second.noun:
        return True
    if not others.isdisjoint(OTHERS):
        return False
    between, behind = (
        {token.lemma for token in part if token.part == "VERB"}
        for part in (tokens[first.token_index + 1 : second.token_index], tokens[second.token_index + 1 :])
    )
    acts_differ = bool(between - BOTH) or (bool(between) and bool(behind - between))
    return acts_differ and tokens[second.token_index - 1].part in ("DET", "ADP", "ADJ", "VERB")


def _swappable_colours(tokens: Sequence[Token]) -> list[ColourMention]:
    """Return the colours of things with a single colour, from left to right."""
    indices = [index for index, token in enumerate(tokens) if token.lower in COLOURS][:MAX_COLOURS]
    joined_indices = {
        index
        for before, after in pairwise(indices)
        if all(token.lower in JOINING for token in tokens[before + 1 : after])
        for index in (before, after)
    }
    colours = []
    for index in indices:
        noun = _head_lemma(tokens, index)
        first = tokens[index - 1 if index and tokens[index - 1].lower in SHADES else index]
        if index not in joined_indices and noun is not None:
            colours.append(ColourMention(index, first.start, SAME.get(tokens[index].lower, tokens[index].lower), noun))
    return colours


def _head_lemma(tokens: Sequence[Token], index: int) -> str | None:
    """Return the thing with the colour: the noun after it, else the last noun before it; None if it names a thing."""
    end = index + 1
    while end < len(tokens) and tokens[end].part == "ADJ":
        end += 1
    nouns = []
    while end < len(tokens) and tokens[end].part in ("NOUN", "PROPN"):
        nouns.append(tokens[end])
        end += 1
    if nouns:
        head = nouns[-1]
        natural = kind_of(head.lower) or head.lemma in NATURE or head.lower in NATURE or nouns[0].lower in KINDS
        return None if natural or any(kind_of(token.lower) == "a" for token in nouns) else head.lemma
    before = tokens[index - 1].lower if index else ""
    if before in ("from", "to", "into") and any(token.lemma in LIGHTS for token in tokens[:index]):
        # "the lights go from blue to white": later they may go back.
        return None
    if before in ("is", "are", "was", "were"):
        subject = next((token.lemma for token in reversed(tokens[:index]) if token.part == "NOUN"), "")
        return None if subject in NATURE or kind_of(subject) else subject
    if before not in ("in", "wearing") or (index > 1 and tokens[index - 2].part in ("NUM", "DET")):
        return None
    # "a man in red": what he wears.
    return next((token.lemma for token in reversed(tokens[:index]) if kind_of(token.lower)), None)
