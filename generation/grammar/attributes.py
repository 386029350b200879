"""Attributes of a caption's things that can change places: sizes, ages, materials, patterns, hair, sides and counts.

Two attributes are of one dimension, exclude each other, and belong to different things: a wooden spoon, a metal bowl.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.appearance import CLOTHES
from foilworks.core.text.language.inflection import plural, singular
from foilworks.core.text.language.living import COLLECTIVES, kind_of
from foilworks.core.text.language.numbers import value_of
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.consistency import UNITS
from generation.grammar.surface import replace_phrase

# Dimension -> its values, each with the words for it. Values of one dimension exclude each other.
DIMENSIONS: dict[str, tuple[frozenset[str], ...]] = {
    "size": (word_set("big large huge giant"), word_set("small little tiny")),
    "height": (word_set("tall taller"), word_set("short shorter")),
    "age": (word_set("young younger"), word_set("old older elderly")),
    "wetness": (word_set("wet"), word_set("dry")),
    "pattern": tuple(map(word_set, ("striped", "plaid", "checkered", "spotted", "floral", "plain"))),
    "material": tuple(map(word_set, ("wooden wood", "metal", "plastic"))),
    "hair colour": tuple(map(word_set, ("blonde blond", "brown", "black", "red", "gray grey"))),
    "hair length": (word_set("long"), word_set("short")),
    "side": (word_set("left"), word_set("right")),
    "depth": (word_set("foreground"), word_set("background")),
}
PLACES = ("side", "depth")
# What is always behind: no clip has it in front.
SCENERY = word_set(
    "mountain mountains hill hills building buildings sky city skyline tree trees forest sea ocean water shore beach",
    "house houses cloud clouds wall tower smokestacks sunset sunrise sun moon lake river bridge street stadium field",
)
# Of letters and screens nobody says how large they are compared to others.
WRITING = word_set("word words letter letters text screen logo title font website banner")
# What one wears instead of another, if it does not tell the gender.
GARMENTS = word_set(
    "shirt t-shirt tshirt jacket sweater coat hoodie sweatshirt vest jersey blazer suit uniform robe costume",
)
# Made of wood, metal or plastic alike.
MADE = word_set(
    "spoon bowl table chair fork board box bucket stick door fence bench tray plate spatula toy container frame bat",
    "pole ladder shelf tool hammer brush rod ruler rack desk stool handle crate basket block ring paddle ramp gate",
    "sword stand",
)
# With a size they are no things, or a size says little about them.
UNSIZED = COLLECTIVES | word_set(
    "school flock herd swarm collection set series dose chunk bit amount piece while smile bite hit wave move jump",
    "circle step number part portion area body variety deal hug kiss attack win group screen toe finger time break",
    "sip town room gym field clip pause change gap distance way splash crowd auditorium gymnasium arena stadium",
    "city street show party laugh grin push pile stack cut slice speech",
)
CHILDREN = word_set("boy girl child kid baby toddler infant teenager teen youth youngster children kids boys girls")
GENERIC = word_set("person people individual adult human other others one someone")
# One of several is taken up again, or both have the attribute.
TAKEN_UP = word_set("one other others another both each same similar identical matching")
PRONOUNS = word_set("he she it they them his her him their")
JOINS = word_set("and or to the , his her its their hand hands then from side sides of foot arm leg")
# What one does to the other, not both to each other.
ONE_WAY = word_set(
    "throw kick push pull chase bite hit lift carry feed hand give flip slap punch catch wash brush film photograph",
    "lead follow watch point wave paint shave shoot tackle pass grab hold drop pick take raise put place move start",
    "stop sit squat stand jump walk run read write sneeze laugh cough fall",
)
MAX_MENTIONS = 12


@dataclass(frozen=True)
class Attribute:
    """An attribute: the index of its token, its dimension, its value there, and the noun that has it."""

    index: int
    dimension: str
    value: int
    noun: str


def attribute_swaps(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Yield the dimension and the edits of each two attributes that can change places, from left to right."""
    words = [token.lower for token in tokens]
    refused = {"depth": SCENERY, "size": WRITING}
    attributes = list(_attributes(tokens))[:MAX_MENTIONS]
    for first, second in combinations(attributes, 2):
        if not refused.get(first.dimension, frozenset()).isdisjoint(words):
            continue
        if first.dimension == second.dimension and first.value != second.value and _are_apart(tokens, first, second):
            spans = [(tokens[row.index].start, tokens[row.index].end) for row in (first, second)]
            targets = words[second.index], words[first.index]
            edits = [
                edit
                for span, target in zip(spans, targets, strict=True)
                for edit in replace_phrase(text, *span, target)
            ]
            yield first.dimension, edits
    if (TAKEN_UP | PRONOUNS).isdisjoint(words):
        yield from _counts(tokens)
    if TAKEN_UP.isdisjoint(words):
        yield from _garments(text, tokens)


def _attributes(tokens: Sequence[Token]) -> Iterator[Attribute]:
    for index, token in enumerate(tokens):
        head = _head(tokens, index)
        for dimension, values in DIMENSIONS.items():
            value = next((value for value, words in enumerate(values) if token.lower in words), None)
            noun = "" if value is None else _owner(tokens, index, head, dimension)
            if value is not None and noun:
                yield Attribute(index, dimension, value, noun)


def _head(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the noun that an adjective describes; `index` if there is none."""
    head = index
    while head + 1 < len(tokens) and tokens[head + 1].part in ("ADJ", "NOUN"):
        if tokens[head + 1].part == "ADJ" and tokens[head].part == "NOUN" and head > index:
            break
        head += 1
    return head if tokens[head].part == "NOUN" else index


def _owner(tokens: Sequence[Token], index: int, head: int, dimension: str) -> str:
    """Return the noun that has the attribute, "" if it has none, or the word is no attribute of this dimension."""
    noun, lead = tokens[head].lower, tokens[index - 1].lower if index else ""
    if dimension in PLACES:
        link = tokens[index - 2].lower if index > 1 else ""
        return (noun if head > index else link) if lead in ("the", "his", "her", "its", "their") else ""
    if head == index or lead in ("very", "too", "so", "as", "more", "most", "all"):
        return ""
    if dimension in ("hair colour", "hair length"):
        return _noun_before(tokens, index) if noun == "hair" else ""
    kind = kind_of(noun)
    fits = {
        "age": kind in ("m", "f", "n") and noun not in CHILDREN | COLLECTIVES,
        "pattern": noun in CLOTHES,
        "height": kind in ("m", "f", "n") and noun not in CHILDREN | COLLECTIVES,
        "wetness": noun not in ("erase", "land"),
        "material": tokens[head].lemma in MADE,
        "size": kind in ("", "a") and noun not in UNSIZED and tokens[head].lemma not in UNSIZED,
    }
    return tokens[head].lemma if fits[dimension] else ""


def _noun_before(tokens: Sequence[Token], index: int) -> str:
    return next((token.lemma for token in reversed(tokens[:index]) if token.part in ("NOUN", "PROPN")), "")


def _are_apart(tokens: Sequence[Token], first: Attribute, second: Attribute) -> bool:
    """Return whether the attributes belong to different things, each named once, and to nothing else."""
    words = [token.lower for token in tokens]
    others = [word for index, word in enumerate(words) if index not in (first.index, second.index)]
    values = DIMENSIONS[first.dimension][first.value] | DIMENSIONS[first.dimension][second.value]
    if not values.isdisjoint(others) or not TAKEN_UP.isdisjoint(others):
        return False
    between = words[first.index + 1 : second.index]
    if first.dimension in PLACES:
        # The same part, or the same preposition: "on the left … on the right".
        if _is_mutual(tokens, first, second):
            return False
        return (
            first.noun == second.noun
            and not JOINS.issuperset(between)
            and "from" not in words[max(0, first.index - 2) : first.index]
        )
    lemmas = [token.lemma for token in tokens]
    return first.noun != second.noun and lemmas.count(first.noun) == 1 == lemmas.count(second.noun)


def _counts(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Exchange the nouns of "two women and a man": the counts stay where they are."""
    for index in range(1, len(tokens) - 3):
        if tokens[index + 1].lower != "and":
            continue
        places = index, index + 3
        numbers = [_count(tokens[place - 1].lower) for place in places]
        nouns = [tokens[place] for place in places]
        lemmas = [noun.lemma for noun in nouns]
        after = tokens[index + 4].part if index + 4 < len(tokens) else "PUNCT"
        clean = all(noun.part == "NOUN" and noun.lemma not in GENERIC | CHILDREN - {"boy", "girl"} for noun in nouns)
        if None in numbers or numbers[0] == numbers[1] or (1 not in numbers and after == "NOUN"):
            continue
        if not UNITS.isdisjoint(lemmas) or (index + 4 < len(tokens) and tokens[index + 4].lower == "of"):
            continue
        if (
            not clean
            or after in ("NOUN", "PART")
            or lemmas[0] == lemmas[1]
            or bool(kind_of(lemmas[0])) != bool(kind_of(lemmas[1]))
        ):
            continue
        if any([token.lemma for token in tokens].count(lemma) > 1 for lemma in lemmas):
            continue
        yield (
            "count",
            [
                Edit(noun.start, noun.end, _form(other, number))
                for noun, other, number in zip(nouns, reversed(lemmas), numbers, strict=True)
            ],
        )


def _count(word: str) -> int | None:
    return 1 if word in ("a", "an") else value_of(word)


def _form(noun: str, count: int | None) -> str:
    base = singular(noun) or noun
    return base if count == 1 else plural(base)


def _garments(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Exchange what two persons wear: "a man in a suit" and "a man in a striped shirt"."""
    worn = []
    for index, token in enumerate(tokens):
        start = index
        while (
            start
            and tokens[start - 1].part in ("ADJ", "NOUN", "VERB")
            and tokens[start - 1].lower not in ("wearing", "in")
        ):
            start -= 1
        lead = [row.lower for row in tokens[max(0, start - 3) : start]]
        is_worn = len(lead) == 3 and lead[1] in ("in", "wearing") and lead[2] in ("a", "an")
        if token.lower in GARMENTS and is_worn and kind_of(lead[0]) in ("m", "f", "n"):
            worn.append((start - 1, index))
    words = [token.lower for token in tokens]
    if (
        len(worn) == 2
        and words[worn[0][1]] != words[worn[1][1]]
        and not _is_shared(tokens, *(pair[0] - 2 for pair in worn))
    ):
        spans = [(tokens[first].start, tokens[last].end) for first, last in worn]
        if any(_goes_on(tokens, last + 1) for _, last in worn):
            return
        yield "clothes", [Edit(*span, text[slice(*other)]) for span, other in zip(spans, reversed(spans), strict=True)]


def _goes_on(tokens: Sequence[Token], index: int) -> bool:
    """Return whether more clothes follow: "a shirt and white shorts"."""
    after = [token.lower for token in tokens[index : index + 2]]
    return bool(after) and (
        after[0] in (",", "with", "over") or (after[0] == "and" and after[-1] not in ("a", "an", "the"))
    )


def _is_mutual(tokens: Sequence[Token], first: Attribute, second: Attribute) -> bool:
    """Return whether a boy on the left and a boy on the right do the same to each other: "touches", "next to"."""
    owners = [
        _noun_before(tokens, row.index) if _head(tokens, row.index) == row.index else row.noun
        for row in (first, second)
    ]
    verbs = {token.lemma for token in tokens[first.index : second.index] if token.part == "VERB"}
    return owners[0] == owners[1] and not verbs & ONE_WAY and bool(kind_of(owners[0]))


def _is_shared(tokens: Sequence[Token], first: int, second: int) -> bool:
    """Return whether two persons have one name and do the same to each other: an exchange says the same."""
    return tokens[first].lemma == tokens[second].lemma and not {token.lemma for token in tokens[first:second]} & ONE_WAY
