"""Word lists of the preposition method: replacements, and words that only look like prepositions."""

from generation.grammar.surface import word_set

# The paper draws from its corpus (ViLMA, Sec. C.6); this list is used without a corpus. Places answer "where is
# it", paths "where does it go": replacements within a kind are grammatical more often.
PLACES = (
    "on",
    "in",
    "under",
    "over",
    "behind",
    "in front of",
    "on top of",
    "next to",
    "inside",
    "outside",
    "above",
    "below",
    "beside",
    "underneath",
    "beneath",
    "near",
    "against",
    "between",
    "among",
)
PATHS = (
    "onto",
    "into",
    "out of",
    "off",
    "off of",
    "from",
    "across",
    "along",
    "through",
    "towards",
    "toward",
    "away from",
    "around",
    "past",
    "up",
    "down",
    "from behind",
    "from under",
    "from inside",
)
# The paper's corpus has "with" as a relation (holding a pen with scissors); it is not spatial.
PAPER_ONLY = ("with",)
# As replacements these are vague (near, next to: mostly true), need two things (between) or a fitting verb (against).
NEVER_DRAWN = frozenset(
    {
        "near",
        "next to",
        "beside",
        "against",
        "between",
        "among",
        "from behind",
        "from under",
        "from inside",
        "off of",
        "beneath",
        "underneath",
        "toward",
    }
)

# Groups whose members all stay true for each other, both ways.
SAME = (
    {"on", "onto", "on top of"},
    {"in", "into", "inside", "from inside"},
    {"out of", "from", "off", "off of", "away from", "from behind", "from under", "from inside", "from on top of"},
    {"under", "below", "beneath", "underneath", "from under"},
    {"over", "above", "across"},
    {"behind", "from behind"},
    {"towards", "toward"},
    {"near", "next to", "beside", "against"},
    {"between", "among"},
    {"along", "down", "up", "across", "over", "through"},
    {"around", "along"},
    {"outside", "out of"},
)
# Something that moves along a thing is also on it: these replacements stay true one way.
ENTAILED = {
    "down": {"on"},
    "up": {"on"},
    "across": {"on", "past"},
    "along": {"on", "past"},
    "over": {"on", "past", "on top of", "outside"},
    "through": {"in", "inside", "into", "past"},
    "on": {"over", "along", "across", "down", "up"},
    "onto": {"over", "across"},
    "on top of": {"over", "above", "outside"},
    "into": {"towards", "through"},
    "in": {"through"},
    "inside": {"through"},
    "past": {"along", "across", "away from"},
    "around": {"past", "near"},
    "out of": {"through"},
    "in front of": {"outside"},
    "behind": {"outside"},
    "near": {"outside"},
    "next to": {"outside"},
    "beside": {"outside"},
    "against": {"outside"},
    "above": {"outside"},
    "under": {"outside"},
    "below": {"outside"},
    "beneath": {"outside"},
    "underneath": {"outside"},
    "between": {"outside"},
    "among": {"outside"},
}
# A person on these is in them: "sits in a chair", "rides on a bus", "walks in the street".
SEATS = word_set(
    "chair chairs armchair armchairs wheelchair wheelchairs couch couches sofa sofas seat seats bed beds swing swings",
    "hammock hammocks throne",
)
CARRIERS = word_set(
    "bus buses train trains tram trams subway plane planes airplane airplanes boat boats ship ships ferry canoe canoes",
    "kayak kayaks raft elevator street streets road field fields court lawn grass snow sand mud",
)
IN_IS_ON = {
    "on": {"in", "inside"},
    "in": {"on"},
    "inside": {"on"},
    "on top of": set(),
    "onto": {"into"},
    "into": {"onto"},
}
IN_IS_ON_TOP = {**IN_IS_ON, "in": {"on", "on top of"}, "inside": {"on", "on top of"}, "on top of": {"in", "inside"}}

OPPOSITE_ENDS = (
    ("left", "right"),
    ("right", "left"),
    ("top", "bottom"),
    ("bottom", "top"),
    ("front", "back"),
    ("back", "front"),
    ("up", "down"),
    ("down", "up"),
    ("east", "west"),
    ("west", "east"),
    ("north", "south"),
    ("south", "north"),
    ("inside", "outside"),
    ("outside", "inside"),
    ("start", "end"),
    ("end", "start"),
)

# Fixed phrases in which the preposition is not spatial.
FIXED = (
    "upside down",
    "up and down",
    "down and up",
    "back and forth",
    "in and out",
    "on and off",
    "inside out",
    "over and over",
    "from side to side",
    "from time to time",
    "from one side to the other",
    "from one to another",
    "from hand to hand",
    "from head to toe",
    "side by side",
    "in total",
    "in slow motion",
    "in fast motion",
    "in a row",
    "in a line",
    "in line",
    "in a circle",
    "in circles",
    "in half",
    "in order",
    "in turn",
    "in time",
    "in sync",
    "in public",
    "in love",
    "in black and white",
    "in reverse",
    "in detail",
    "in pairs",
    "in place",
    "in progress",
    "in the dark",
    "in the morning",
    "in the afternoon",
    "in the evening",
    "in a hurry",
    "in general",
    "in action",
    "in unison",
    "in pain",
    "in shock",
    "in pieces",
    "in two",
    "on fire",
    "on purpose",
    "on time",
    "on air",
    "on tv",
    "on television",
    "on the phone",
    "on foot",
    "on video",
    "on camera",
    "on his own",
    "on her own",
    "on their own",
    "on its own",
    "on one's own",
    "on the way",
    "on his way",
    "on her way",
    "on their way",
    "on and on",
    "all over",
    "over there",
    "over here",
    "from afar",
    "from now on",
    "into pieces",
    "into two pieces",
    "into halves",
    "into half",
    "into tears",
    "into song",
    "into laughter",
    "in an instant",
    "under way",
    "under control",
    "up close",
    "out of breath",
    "out of control",
    "out of focus",
    "out of order",
    "out of tune",
    "out of nowhere",
)

# "a man in a red shirt", "in black": clothes are not places, but "in a hat box" is one.
WORN = word_set(
    "shirt shirts t-shirt tshirt jacket jackets dress dresses suit suits coat coats uniform uniforms costume",
    "costumes jeans shorts pants trousers sweater sweatshirt hoodie hat hats cap helmet helmets glasses sunglasses",
    "apron robe gown skirt tights bikini swimsuit shoes boots heels gloves mask masks scarf tie vest leotard kimono",
    "tuxedo tutu clothes clothing outfit outfits pajamas makeup attire backpack vest jersey jerseys jumper jumpers",
    "pullover cardigan blouse overalls scrubs gear sandals socks wetsuit raincoat armor armour headscarf bandana",
    "goggles headphones trunks",
)
COLOURS = word_set("black white red blue green yellow pink purple orange grey gray brown")
CONTAINERS = word_set("box boxes bag bags room rack cup drawer pocket shop store closet")

# Particle -> the verbs (lemmas) that it belongs to right after them: "picks up a cup", "puts on a hat".
PARTICLES = {
    "up": word_set(
        "pick lift put take turn throw cut open set fold wrap tear hold fill clean blow look hang bring warm make give",
        "dress tie zip button buckle mix chop heat eat drink start pump roll speed scoop suck sweep back ball crumple",
        "stack pile line beat close wake wind curl coil light mess dig pull stand",
    ),
    "from": word_set("drink sip bite eat"),
    "down": word_set("put turn close set knock wipe write burn break slow shut take calm cut hold"),
    "on": word_set("put turn switch try cheer carry keep hold"),
    "to": word_set("talk speak listen point attach belong connect next close due according"),
    "off": word_set(
        "throw put take turn cut tear clean dry wipe switch kick show break start shut peel strip pull cross"
    ),
    "over": word_set("turn fold knock tip look flip take"),
    "in": word_set("plug join tuck fill hand"),
    "through": word_set("flip leaf look"),
}

# Preposition -> words before it (a verb's lemma, or the word itself) after which it is not spatial.
FIXED_BEFORE = {
    "from": word_set("make different prevent protect suffer recover learn result distinguish"),
    "out of": word_set("make run"),
    "in": word_set(
        "consist participate interest interested dress clad succeed believe engage result involve laugh cover"
    ),
    "on": word_set("depend focus concentrate insist comment base work rely"),
    "into": word_set("turn transform change separate divide convert burst shape form"),
    "over": word_set("talk argue"),
    "around": word_set("fool joke"),
}

TIME_WORDS = word_set(
    "second seconds minute minutes hour hours day days week weeks month months year years time times move",
    "moves step steps try tries attempt attempts slow motion moment monday tuesday wednesday thursday",
    "friday saturday sunday january february march april june july august september october november",
    "period weekend course century decade evening morning night",
    "december spring summer autumn winter",
)
# A noun phrase follows a preposition: before one of these it is a particle, an adverb or a clause.
NO_OBJECT = word_set(
    "and or but while when where who which that then as if because so is are was were be being been has",
    "have had does do did will would can could to of at by for with without on in into onto from over up",
    "down off out through across along around towards toward behind under again before after until till",
    "than also too",
)
# "the inside of the box", "an up arrow": nouns and adjectives.
DETERMINERS = word_set(
    "a an the his her its their my your our this that these those each every",
)
