"""Synonyms of things, which connect a detector's labels with the words of captions."""

from functools import cache, lru_cache

from generation.grammar.existence import singular_noun

# One group per line: a label of COCO (DETR's), then the words of captions for it.
GROUPS = (
    "cell phone, phone, mobile phone, mobile, smartphone, cellphone, telephone",
    "tv, television, tv set, screen, monitor",
    "couch, sofa, settee",
    "dining table, table, desk",
    "potted plant, plant, houseplant",
    "airplane, plane, aeroplane, aircraft, jet",
    "motorcycle, motorbike, bike",
    "bicycle, bike, cycle",
    "car, automobile, vehicle",
    "truck, lorry, vehicle, pickup",
    "bus, coach, vehicle",
    "boat, ship, vessel, canoe, kayak",
    "handbag, bag, purse",
    "backpack, bag, rucksack",
    "suitcase, bag, luggage, case",
    "sports ball, ball, football, basketball, soccer ball, baseball, tennis ball, volleyball",
    "wine glass, glass, goblet",
    "cup, mug, glass",
    "bottle, flask",
    "bowl, dish",
    "laptop, computer, notebook, pc",
    "keyboard, computer keyboard",
    "mouse, computer mouse",
    "remote, remote control, controller",
    "refrigerator, fridge, freezer",
    "oven, stove, cooker",
    "microwave, microwave oven",
    "sink, washbasin, basin",
    "hair drier, hair dryer, hairdryer, blow dryer, dryer",
    "toothbrush, brush",
    "traffic light, stoplight, traffic lights",
    "fire hydrant, hydrant",
    "stop sign, sign",
    "donut, doughnut",
    "cake, pie",
    "hot dog, hotdog, sausage",
    "tie, necktie",
    "teddy bear, teddy, stuffed animal, toy",
    "book, notebook, novel",
    "clock, watch",
    "knife, blade",
    "dog, puppy",
    "cat, kitten",
    "bird, parrot, pigeon",
    "cow, calf, bull",
    "sheep, lamb",
    "horse, pony",
    "skis, ski",
    "surfboard, board",
    "skateboard, board",
    "snowboard, board",
    "baseball bat, bat",
    "baseball glove, glove, mitt",
    "tennis racket, racket, racquet",
    "toilet, loo",
    "bed, mattress",
    "chair, seat, armchair, stool",
)

# A detector's "person" may be any of these, and each of these is a person; a woman is not a man.
ANYBODY = "person, human, people, somebody, someone"
PERSONS = (
    "man, guy, boy, player",
    "woman, lady, girl, player",
    "child, kid, baby, toddler, boy, guy, player",
    "child, kid, baby, toddler, girl, player",
)


# Labels whose last word is another thing.
NOT_ITS_LAST_WORD = frozenset({"hot dog"})


@cache
def _names() -> dict[str, frozenset[str]]:
    synonyms_by_name: dict[str, frozenset[str]] = {}
    for line in (*GROUPS, *PERSONS):
        names = _line(line)
        for name in names:
            synonyms_by_name[name] = synonyms_by_name.get(name, frozenset()) | names
    persons, anybody = frozenset(name for line in PERSONS for name in _line(line)), _line(ANYBODY)
    somebody = {name: synonyms_by_name[name] | anybody for name in persons}
    return synonyms_by_name | somebody | dict.fromkeys(anybody, persons | anybody)


def _line(line: str) -> frozenset[str]:
    return frozenset(singular_noun(name.strip()) for name in line.split(","))


@lru_cache(maxsize=20_000)
def names_of(noun: str) -> frozenset[str]:
    """Return the synonyms of a thing, including itself, in the singular: "cell phones" -> {"cell phone", "phone" …}.

    A label of several words is also its last one: a "wine glass" is a glass, but a "hot dog" is not a dog.
    """
    name = singular_noun(" ".join(noun.lower().split()))
    synonyms = {name, *_names().get(name, ())}
    return frozenset(synonyms | {synonym.split()[-1] for synonym in synonyms - NOT_ITS_LAST_WORD if synonym})


def seen_as(noun: str, objects: frozenset[str]) -> str:
    """Return the detected label that names the thing, or ""."""
    name = singular_noun(" ".join(noun.lower().split()))
    return next((label for label in sorted(objects) if name in names_of(label)), "")
