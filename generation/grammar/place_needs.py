"""Tell whether the rest of a caption needs the place of a preposition: "puts butter in the pan and melts it"."""

import re

from generation.grammar.preposition_choice import head_noun
from generation.grammar.preposition_rows import LANDMARKS
from generation.grammar.state_words import POURED
from generation.grammar.surface import phrase_pattern, word_set

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
DISHES = frozenset(LANDMARKS["dish"].split())
INSIDE = frozenset({"in", "into", "inside"})
# What is done with the food of a dish, or with the cup.
USED = re.compile(
    r"\b(?:cook|stir|melt|mix|fr[iy]|boil|heat|add|drink|eat|swallow|sip|whisk|season|pour|simmer|saut|flip|toss|beat|"
    r"blend|drain|cover|wash|rins|bake|roast|turn)\w*|\b(?:water|oil)\b",
    re.IGNORECASE,
)
# What stands in a room, or is done there.
INDOORS = phrase_pattern(
    sorted(
        word_set(
            "bed couch sofa table desk chair stove sink counter countertop fridge refrigerator tv television",
            "toilet mirror shelf closet cabinet cupboard bathtub tub shower floor wall ceiling carpet rug oven",
            "dresser treadmill piano pool window doorway stage pew blackboard whiteboard stairs staircase",
            "counter-top laptop computer pantry mat cupboards cabinets bleachers spectators machine machines",
            "dishes vacuum vacuuming sweeping mopping cooking desks chairs tables weights curtains blinds lamp",
            "hallway pillow",
        )
    )
)
# One leaves a kitchen before one opens its cupboard.
FITTED = phrase_pattern(
    sorted(
        word_set(
            "sink stove fridge refrigerator cabinet cabinets cupboard cupboards counter bed toilet mirror closet",
            "oven dresser shower bathtub tub desk couch sofa",
        )
    )
)
AFLOAT = frozenset(LANDMARKS["boat"].split()) | {"board", "surfboard", "skates", "skis", "ski", "rollerblades"}
ROWED = re.compile(r"\b(?:paddl|row|sail|surf|float|div|skat|ski|jump|rid)(?!e?rs?\b)\w*", re.IGNORECASE)
PRONOUNS = frozenset({"him", "her", "them", "it", "me", "us", "himself", "herself", "themselves"})
GOES_TO = frozenset({"to", "over to", "up to", "back to"})
PARTS = frozenset({"edge", "side", "corner", "end", "top", "bottom", "middle", "center", "room"})


def needs_place(text: str, phrase: str, start: int, end: int, target: str) -> str:
    """Return why the caption needs the place of a preposition, or ""."""
    after = [match.group().lower() for match in WORD.finditer(text[end : end + 80])]
    head = head_noun(after)
    if head in DISHES and phrase != target:
        rest = text[end:].split(head, 1)[-1]
        before = [match.group().lower() for match in WORD.finditer(text[max(0, start - 60) : start])]
        if used := USED.search(rest):
            return f"'{used.group()}' needs the {head}"
        if target == "next to" and not POURED.isdisjoint(before[-4:]):
            return f"what is poured is in the {head}"
    if head in AFLOAT and (rowed := ROWED.search(text)):
        return f"'{rowed.group()}' needs the {head}"
    if target == "far from" and after[:1] and after[0] in PRONOUNS:
        return f"'{after[0]}' may be the same person"
    if phrase in ("on", "onto") and head in ("laptop", "computer", "phone", "keyboard"):
        return f"one works on a {head}"
    if phrase in ("into", "through") and target in ("out of", "past") and (inside := FITTED.search(text, end)):
        return f"'{inside.group()}' is inside"
    if phrase in GOES_TO:
        rest = text[end:].lower().split(head, 1)[-1] if head else ""
        sentence = re.split(r"[.;!?]", rest, maxsplit=1)[0]
        if sentence.strip(" \"'"):
            return f"what follows happens at the {head or 'place'}"
    if head in PARTS and phrase in ("in", "on", "onto", "in front of", "behind") and target != "out of":
        return f"'{head}' is part of another thing"
    if phrase in INSIDE and target == "outside" and (inside := INDOORS.search(text)):
        return f"'{inside.group()}' is indoors"
    return ""
