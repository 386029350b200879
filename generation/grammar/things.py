"""Things by where they are found: what a clip names, and what it surely does not show."""

from functools import lru_cache

from foilworks.core.text.language.appearance import CLOTHES
from foilworks.core.text.language.inflection import singular
from foilworks.core.text.language.living import ANIMALS
from foilworks.core.text.language.word_lists import word_set

# Domain -> its things. A foil names a thing of a domain that no caption of the video has.
DOMAINS = {
    "kitchen": word_set(
        "plate bowl cup mug glass knife fork spoon spatula pan pot lid kettle bottle jar tin tray oven stove hob",
        "microwave toaster fridge refrigerator freezer dishwasher sink tap faucet cupboard cabinet drawer counter",
        "board colander grater peeler whisk ladle blender juicer mixer rolling-pin strainer sieve foil napkin sponge",
        "detergent teapot saucepan skillet wok chopstick straw corkscrew tupperware container cloth towel bin trash",
        "bag packet package box filter machine rack scale thermometer apron recipe can opener cutlery dish casserole",
        "tongs stirrer squeezer",
    ),
    "food": word_set(
        "apple banana orange lemon lime mango kiwi pineapple pear peach plum grape cherry strawberry blueberry",
        "raspberry melon watermelon pomegranate avocado coconut fig tomato potato carrot onion garlic ginger leek",
        "pepper chili chilli cucumber broccoli cauliflower cabbage lettuce spinach bean pea corn mushroom zucchini",
        "courgette eggplant aubergine pumpkin squash asparagus celery radish beet turnip herb basil parsley cilantro",
        "coriander mint oregano cumin salt sugar flour rice pasta spaghetti noodle bread toast roll bun bagel",
        "tortilla pizza burger sandwich hotdog cake cookie biscuit pie muffin pancake waffle donut egg bacon ham",
        "sausage chicken beef pork steak fish shrimp salmon tuna meat cheese butter milk cream yogurt chocolate",
        "candy honey jam syrup oil vinegar sauce ketchup mustard mayonnaise soup salad cereal oat nut almond peanut",
        "coffee tea juice water soda beer wine whiskey dough batter popcorn taco sushi omelette jelly lollipop",
        "marshmallow",
    ),
    "home": word_set(
        "bed pillow blanket sheet mattress sofa couch armchair bookshelf wardrobe dresser nightstand lamp candle",
        "curtain rug carpet mirror picture painting vase clock television tv remote vacuum broom mop bucket dustpan",
        "iron hanger basket towel shower bathtub toilet toothbrush toothpaste comb hairbrush hairdryer razor soap",
        "shampoo lipstick mascara perfume scissors needle laptop computer keyboard printer tablet phone cellphone",
        "book notebook newspaper magazine pen pencil marker paper envelope bookcase desk closet fireplace ladder fan",
        "heater radiator suitcase backpack umbrella purse wallet key lock medicine pill tissue diaper crib stroller",
        "doorknob staircase lightbulb bulb charger headphone microphone speaker camera stapler tape glue",
    ),
    "sport": word_set(
        "ball basketball football baseball volleyball racket racquet bat helmet glove puck goal net hoop dumbbell",
        "barbell treadmill skateboard surfboard snowboard ski skate sled frisbee trampoline paddle oar kayak canoe",
        "raft javelin discus hurdle pole bow arrow dart pool billiard bowling pin trophy medal whistle scoreboard",
        "mat rope swing slide seesaw punching-bag sword foosball table-tennis golf club tee fishing-rod wetsuit",
        "goggle parachute balloon kite hula-hoop yo-yo croquet",
    ),
    "music": word_set(
        "guitar violin piano drum flute saxophone trumpet trombone clarinet harmonica accordion cello harp banjo",
        "ukulele cymbal tambourine xylophone bagpipe bass conga bongo drumstick",
    ),
    "street": word_set(
        "car truck bus van taxi train tram bicycle bike motorcycle scooter wheelchair ambulance tractor bulldozer",
        "crane helicopter airplane plane ship boat ferry submarine rocket wheel tire tyre engine bumper windshield",
        "hood traffic-light billboard fountain statue bench fence mailbox hydrant parking-meter bridge wagon",
        "carriage trailer limousine jeep",
    ),
    "tools": word_set(
        "hammer screwdriver wrench drill saw axe shovel rake hoe lawnmower wheelbarrow paintbrush roller sandpaper",
        "nail screw bolt plier chainsaw hose anvil chisel level toolbox plank brick cement tile welder crowbar",
        "pickaxe plow pitchfork",
    ),
    "animal": ANIMALS,
    "outdoors": word_set(
        "tent campfire bonfire lighthouse igloo snowman sandcastle pumpkin christmas-tree nest beehive cactus flower"
    )
    | word_set("tree bush leaf rock waterfall volcano iceberg scarecrow windmill barn haystack"),
    "clothes": CLOTHES,
    "toys": word_set(
        "doll teddy puppet lego puzzle kite marble domino dice chess card rubik toy spinner robot drone pinata firework"
    ),
}
# What is in nearly every clip of a house or of people is no foil.
COMMON = frozenset({"home", "clothes"})
# One of these in a clip makes the others likely.
TOGETHER = (
    frozenset({"kitchen", "food"}),
    frozenset({"street", "sport", "animal", "outdoors"}),
    frozenset({"home", "kitchen", "food", "toys"}),
)
# Of a clip that tells only persons and clothes, the scene is unknown.
UNSURE = frozenset({"kitchen", "food", "street"})
PETS = frozenset({"dog", "cat", "puppy", "kitten", "fish"})
# These lie about anywhere, or have another meaning as well.
ANYWHERE = word_set(
    "mat rope ball pole toy net card top polo goal tee pin rock plant leaf animal bird nail board bag bin box cement",
    "glass bottle cup can phone camera helmet herb pot cereal seal swing orange slide paper cloth towel ring key lock",
    "fan scale rack bow hood tile level wheel iron file",
)


@lru_cache(maxsize=20_000)
def domains_of(noun: str) -> frozenset[str]:
    """Return the domains of a thing by its last word: "wine glass" is of the kitchen; empty if it is unknown."""
    last = noun.lower().split()[-1] if noun.split() else ""
    if last in ("top", "polo", "goal"):
        return frozenset()
    forms = {last, singular(last) or last, noun.lower().replace(" ", "-")}
    return frozenset(name for name, things in DOMAINS.items() if not things.isdisjoint(forms))


def is_elsewhere(noun: str, own_domains: frozenset[str]) -> bool:
    """Return whether a clip with things of `own_domains` surely does not show the thing."""
    domains = domains_of(noun)
    taken = own_domains.union(*(group for group in TOGETHER if own_domains & group))
    if own_domains <= {"clothes"}:
        taken |= UNSURE
    return bool(domains) and " " not in noun and noun not in ANYWHERE | PETS and domains.isdisjoint(taken | COMMON)
