"""Word lists: where a verb of change means something else, or its opposite does not fit."""

from foilworks.core.text.language.change_of_state import NOUNS
from foilworks.core.text.language.word_lists import word_set

# Prepositions of a direction belong to their verb; others say where or when.
DIRECTIONS = word_set(
    "into onto from out off around over through against to towards toward away back between together apart at up down"
)
# One puts things back on these, and in others.
ON_THESE = word_set(
    "head face body wall shelf table floor desk counter stove plate tray rack finger neck arm hand bed roof eyelid eye",
    "eyebrow cheek lip nose hair slice bread pizza toast cake back",
)
# Verbs that may keep a direction: "pushes a car down a road", "pulls a car down a road".
KEEP_DIRECTION = {"push": word_set("down up along across"), "pull": word_set("wheelie down up along across")}
# Without an object these end their sentence: nothing descends over a bar.
LAST_WORDS = word_set(
    "jump climb ski ascend descend rise fall expand shrink start stop sink surface widen narrow warm cool burn boil"
)
PIECES = word_set("half two three four pieces halves slices circles strips shape form line circle")
SHOWN = word_set("reveal display show unveil present see look eat drink read use find take pull get remove")
# Things that these verbs do not change, or that their opposites do not fit.
NOT_LITERAL = {
    "stand up": word_set("hair"),
    "clean": word_set("up shrimp fish crab"),
    "take out": word_set("drink bite trash garbage anger frustration loan student"),
    "take": word_set("bite sip drink"),
    "take down": word_set("man woman boy girl person opponent player people guy wrestler note picture"),
    "turn on": word_set(
        "camera video recording screw bolt nut grass road street corner side stage way path track highway man woman"
    ),
    "turn off": word_set("camera video recording screw bolt nut road street corner side stage way path track highway"),
    "put in": word_set("goal effort time fire"),
    "put on": word_set(
        "chapstick lipstick lotion cream perfume deodorant sunscreen polish",
        "performance show display play concert weight music fire",
    ),
    "push": word_set("issue limit boundary idea agenda product button law key pedal sleeve hair"),
    "pull": word_set("sleeve hair prank trick trigger face muscle leg stunt"),
    "throw": word_set("party fit tantrum shade punch fish light"),
    "catch": word_set("fish fire attention cold eye glimpse play wave breath air bit"),
    "cover": word_set("topic song news story subject event mouth face tune"),
    "open": word_set(
        "toy food order candy taffy snack meal store shop restaurant business",
        "fire mouth eye show concert account discussion presentation event gift present letter parcel can soda beer",
        "fruit pomegranate coconut egg nut avocado mango arm leg hand",
    ),
    "close": word_set("case deal gap eye show throat mouth"),
    "close up": word_set("throat eye mouth"),
    "raise": word_set("money awareness question child kid issue concern fund baby puppy kitten rabbit cub animal"),
    "break": word_set(
        "hole",
        "news record law rule dance bad silence leg ankle arm nose bone egg ice bread tackle cement block board brick",
        "concrete wood stick pencil plank tile wave",
    ),
    "fix": word_set(
        "hair makeup meal food drink problem dinner lunch breakfast tire tyre flat imperfection mistake error leak bug"
    ),
    "enter": word_set("contest competition code name datum number information password"),
    "leave": word_set("message comment impression trace mark note leaf"),
    "form": word_set("circle line band team group pyramid shape part square"),
    "drop": word_set("beat hint bomb"),
    "divide": word_set("people opinion"),
    "lock": word_set("eye gaze lip"),
    "load": word_set("fight game level screen website page"),
    "light": word_set("room"),
    "sort": word_set("problem"),
    "hang": word_set("himself herself"),
    "hang up": word_set("phone call cellphone telephone"),
    "lift": word_set(
        "mood spirit ban shirt sleeve hand arm leg foot head finger eyebrow weight barbell dumbbell skirt chin"
    ),
    "remove": word_set("waste plate bowl pot pan knife dish cup glass skin seed peel scrap core"),
    "empty": word_set("water content waste trash liquid juice rubbish"),
    "stick": word_set("tongue"),
    "connect": word_set("people dot"),
    "release": word_set("album song video single film movie"),
    "climb": word_set("mountain wall rock ladder rope tree hill stair"),
    "expand": word_set("mind knowledge"),
    "spread": word_set("word news rumor love awareness disease"),
}
# Only these things are started, reduced or dug like that.
ONLY = {
    "start": NOUNS["device"] | word_set("game music video race timer fire"),
    "stop": NOUNS["device"] | word_set("game music video race timer"),
    "reduce": word_set("heat volume speed temperature size flame light"),
    "increase": word_set("heat volume speed temperature size flame light"),
    "dig": word_set("hole pit trench grave ditch tunnel"),
    "fill in": word_set("hole pit trench grave ditch tunnel"),
    "wear": NOUNS["garment"],
    "light": word_set(
        "candle fire grill stove match cigarette lamp torch firework fireworks lantern burner bonfire wood charcoal",
        "cigar fuse incense sparkler",
    ),
    "enter": NOUNS["structure"],
    "leave": NOUNS["structure"],
}
# These are changes in made captions only: one takes a walk, and puts things anywhere.
NOTED_ONLY = word_set(
    "take form fall rise melt ski jump sink surface wear release reveal spray tidy stick spread trap dirty stain mess"
) | {"mix up", "wipe off"}
# Nobody writes these of a thing in a clip: "dirties her hands".
UNWRITTEN = word_set(
    "dirty stain mess wet soil trap unstick unstack disarrange darken lighten uninstall dim unfasten unstick undecorate"
)
# Nouns that can act: "a guy folding paper", but not "a home lighting product".
AGENTS = word_set(
    "man woman guy girl boy child kid person people lady player character baby men women children someone somebody he",
    "she they chef cook worker student teacher actor singer mechanic hand group couple family team adult teenager dude",
    "gentleman officer soldier doctor nurse farmer artist gamer magician dog cat monkey animal bird machine robot",
)
# These describe how a thing is, not what happens to it: "a family is gathered".
STATES_IF_PASSIVE = word_set(
    "wrap cover hang gather scatter catch throw hide fill light attach connect dress bury park arrange put",
    "install place",
)
FLYERS = word_set(
    "plane airplane aeroplane aircraft airliner jet helicopter chopper drone bird bee insect butterfly rocket"
)
ANIMALS = word_set(
    "dog dogs puppy cat cats kitten animal animals bird horse horses cattle cow cows bull bulls elephant elephants",
    "ox oxen",
    "donkey donkeys camel camels mule mules goat goats sheep monkey bear",
)
# What a food is given in a recipe: another act needs it.
COOKED = frozenset(
    {"put", "seal", "cover", "take", "remove", "wrap", "open", "scatter", "place", "lift", "fold", "gather"}
)
# What is in hand is used after these, and what is put away is not: "picks up a cup and drinks".
TAKING = frozenset({"pick up", "take out", "pull out", "turn on", "put on", "plug in", "open"})
USES = word_set(
    "drink eat read talk write wash wipe clean sweep play pour text dial sip bite cut peel chop slice rinse fill",
    "watch cook listen fry boil heat drive use vacuum mop brush scrub stir take do work type call answer film",
    "photograph shoot draw paint sew knit dust swing throw dry comb grate mix spread put wear season cover start",
    "begin dance measure open",
)
# After these the caption ends, or its person is somewhere else.
LEAVES_PLACE = frozenset({"enter", "leave", "wake up", "fall asleep", "drop", "arrive", "depart"})
# Other ways to say the opposite.
OPPOSITE_ACTS = {
    "sit down": word_set("stand get rise"),
    "stand up": word_set("sit seat lie"),
    "pick up": word_set("place set lay return put"),
    "put down": word_set("pick grab lift take"),
    "enter": word_set("exit leave come"),
    "leave": word_set("return come arrive enter"),
    "put on": word_set("remove undress take"),
    "take off": word_set("wear dress don put remove undress"),
    "remove": word_set("undress"),
    "wake up": word_set("sleep"),
    "open": word_set("shut"),
    "close": word_set("unlock"),
}
# What is removed from these is not put back: "removes the skin from the garlic".
HOLDERS = NOUNS["structure"] | word_set(
    "drawer fridge refrigerator freezer cabinet cupboard shelf box bag oven closet pantry rack table pocket basket",
    "stove counter dishwasher microwave wall door window bed desk chair hanger hook holder case wallet purse",
    "backpack trunk car head",
)
PUT_BACK = (
    NOUNS["garment"]
    | NOUNS["part"]
    | NOUNS["insertable"]
    | word_set(
        "pillow blanket towel book phone picture mirror helmet camera laptop computer bottle box bag key wallet",
        "curtain sheet",
    )
)
# One takes no flour out of a bowl.
POURED = NOUNS["liquid"] | word_set(
    "salt sugar flour spice pepper seasoning powder sauce cream butter cheese honey syrup mixture batter detergent",
    "soap rice jeera cumin oregano coriander paste dressing vinegar garlic ginger dough sand ice makeup lotion",
)
# Of these, somebody has the thing in hand.
HOLDING = word_set("hold hug carry cradle wear eat drink read squeeze grip clutch")
# Behind these a door or lid was open.
REACHES_IN = word_set(
    "enter walk go come step run exit leave move head return rush take get grab put look stare peer place pull reach",
    "fetch pick",
)
# Behind these verbs the preposition says more than a place.
BOUND = {
    "inside": frozenset({"throw", "catch", "drop"}),
    "into": frozenset({"throw", "catch", "drop"}),
    "onto": frozenset({"throw", "catch", "drop"}),
    "down": frozenset({"throw", "catch", "drop"}),
    "behind": frozenset({"throw", "catch", "drop"}),
    "in": frozenset(
        {"empty", "throw", "catch", "drop", "clean", "wash", "rinse", "dry", "soak", "wipe", "park", "wrap", "open"}
    ),
    "at": frozenset({"throw", "catch", "drop"}),
    "on": frozenset({"throw", "catch", "drop", "lift", "close", "open"}),
}
