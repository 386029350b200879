"""Tell why a new preposition would not fit its verb or landmark, or could be true together with the old one."""

import re

from foilworks.core.text.language.living import kind_of
from generation.grammar.preposition_choice import head_noun
from generation.grammar.surface import word_set

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
BEING = word_set("is are was were there")
MOVING = re.compile(
    r"\b(?:walk|run|ran|running|jog|stroll|march|drive|driv|drove|rid|rode|swim|fly|flies|flew|sail|ski|skat|cycl|"
    r"bik|crawl|hop|jump|gallop|wander|hik|sprint|rac|row|paddl|surf|step|mov|travel|com|go|going|goes|throw"
    r"|thrown|threw|push|pull|carr|bring|place|put)\w*",
    re.IGNORECASE,
)
# What is served or eaten stands on something.
SERVED = word_set(
    "plate plates bowl bowls dish dishes cup cups glass glasses food foods dessert desserts pizza pizzas cake cakes",
    "sandwich sandwiches meal meals breakfast lunch dinner salad broccoli meat fruit fruits vegetable vegetables pie",
    "donut donuts doughnut doughnuts soup coffee tea beer wine drink drinks tray trays bread cheese hamburger burger",
)
# Only what touches a thing does these.
TOUCHING = re.compile(
    r"\b(?:lean|leans|leaned|leaning|spread|spreads|spreading|smear|smears|smearing|drizzle|sprinkle|brush|roll"
    r"|rolls|rolled|"
    r"cook|cooks|cooking|fry|grill|roast|bake|flip|crush|grind|blend|mash|mince|layer|line|coat|scrape|"
    r"stick|sticks|press|pipe|dip|rub|hang|hangs|hanging|draw|write|paint)\b",
    re.IGNORECASE,
)
POURING = re.compile(
    r"\b(?:transfer|empty|empties|emptying|scoop|sieve|strain|squeeze|crack|break|grate|add)\w*\b", re.IGNORECASE
)
HOT = re.compile(r"\b(?:pre-?heated|heated|hot|boiling)\b", re.IGNORECASE)
PUTTING = re.compile(r"\b(?:put|plac|set|hid|stor)\w*", re.IGNORECASE)
POURS_ON = re.compile(r"\bpour(?:s|ed|ing)?\b", re.IGNORECASE)
# Nobody is under these, or beside them with the same words.
WIDE = word_set("field ground floor court pitch lawn grass sand snow ice road street track tracks river water stage")
LIGHTS = word_set("lighting light lights background backdrop scenery view screen sign")
RIDDEN = word_set(
    "bicycle bike motorcycle motorbike horse watercraft boat ship surfboard skateboard snowboard skis scooter chair",
    "sofa couch bench stool swing elephant camel car bus truck vehicle",
)
TRAFFIC = word_set(
    "car cars truck trucks bus buses train trains vehicle vehicles motorcycle motorcycles traffic taxi tram trams"
)
TWO = re.compile(r"^(?:an? |the )?other |^another ")
BLANKS = re.compile(r"^(?:an?|the|another|there is an?|there is)\s+")


def clash(text: str, phrase: str, start: int, end: int, target: str) -> str:
    """Return why `target` clashes with what the caption says at `start:end`, or ""."""
    sentence_start = max(text.rfind(mark, 0, start) for mark in ".;!?") + 1
    before_text = text[sentence_start:start].lower()
    before = [match.group() for match in WORD.finditer(before_text)]
    after = [match.group().lower() for match in WORD.finditer(text[end : end + 80])]
    head = head_noun(after)
    if _same_description(before_text, text[end:].lower()):
        return "both participants have the same description"
    if {phrase, target} <= {"next to", "beside", "near", "behind", "in front of", "by"} and {phrase, target} != {
        "behind",
        "in front of",
    }:
        return f"'{phrase}' and '{target}' do not exclude each other"
    if target == "far from" and not (_is_said_of(before) or MOVING.search(before_text) or kind_of(head)):
        return "only what moves is called far from a thing"
    if {phrase, target} & {"towards", "toward"} and _is_said_of(before):
        return "it may lie both towards and away"
    person = any(kind_of(word) for word in before)
    if target in ("below", "under") and person and (head in RIDDEN | WIDE or "above" in phrase):
        return f"nobody is under the {head}"
    if target in ("under", "below") and (
        head in WIDE or (not SERVED.isdisjoint(before) and not PUTTING.search(before_text))
    ):
        return f"nothing like this is under the {head}"
    if TOUCHING.search(before_text) and target in ("next to", "behind", "under", "off", "below", "in front of"):
        return "the verb needs what it touches"
    if phrase in ("in", "into", "on", "onto") and (HOT.search(text[end : end + 30]) or POURING.search(before_text)):
        return "the verb or the landmark needs the old preposition"
    if target == "next to" and re.search(r"\bwhile it\b", text[end:], re.IGNORECASE):
        return "'it' may be the place"
    if POURS_ON.search(before_text) and (
        target in ("next to", "behind") or (target == "out of" and before[-1:] and POURS_ON.fullmatch(before[-1]))
    ):
        return "what is poured needs its place"
    if not LIGHTS.isdisjoint((head, *after[:3])) and target in ("behind", "in front of", "far from"):
        return f"'{head}' is no place"
    if head in WIDE and (
        target == "behind" or (target in ("off", "next to") and not TRAFFIC.isdisjoint(before)) or head == "ice"
    ):
        return f"it is unclear what '{target}' the {head} is"
    return ""


def _is_said_of(before: list[str]) -> bool:
    """Return whether the place is the only thing that the caption says: "a man is next to"."""
    return bool(before) and (before[-1] in BEING or (before[:1] == ["there"] and before[1:2] == ["is"]))


def _same_description(before: str, after: str) -> bool:
    """Return whether the sentence relates two with one description: "an adult in red", "another adult in red"."""
    first = re.split(r"\s(?:is|are|was|were|stands|sits|walks|runs)\s", before, maxsplit=1)[0].strip()
    if not TWO.match(after.strip()):
        return False
    return after.strip().split(maxsplit=1)[-1].startswith(BLANKS.sub("", first)) if first else False
