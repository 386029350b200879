"""Our lexicon of changes of state: <pre-state, verb, post-state, reverse verb> (ViLMA, Secs. 3.4 and C.4).

Each reversible row is written once and applies in both directions. A verb may include its particle ("put on"),
which may follow the object. Irreversible changes (chop, tear) have no reverse verb; `stand_in` is the verb of
the kind that the paper uses instead (chops / connects), as does mode paper.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from foilworks.core.text.language.word_lists import word_set

TRANSITIVE, INTRANSITIVE, BOTH = "transitive", "intransitive", "both"
# Nouns of a kind, for verbs whose opposite depends on the thing: one removes a shirt, a lid or a card.
NOUNS = {
    "garment": word_set(
        "shirt t-shirt jacket coat hat cap shoe sock glove dress pants jeans trousers shorts sweater hoodie helmet",
        "mask glasses sunglasses scarf tie belt boot skirt robe apron suit vest wig ring necklace bracelet watch",
        "earring goggles clothes clothing backpack bra gown costume uniform headphone headband makeup make-up",
        "eyeshadow lipstick mascara cosmetic eyeliner",
    ),
    "part": word_set(
        "lid cover cap wheel tyre tire peel label sticker handle tape wire screw nut bolt door panel plate frame",
        "string hose pipe chain seat pedal blade propeller filter bumper mirror magnet hook",
    ),
    "insertable": word_set(
        "card battery disc disk cd dvd cartridge needle memory chip plug cork straw key coin bulb cassette toner sim",
        "film ram drive usb",
    ),
    "liquid": word_set(
        "water oil grease milk juice liquid fat broth soda beer wine tea coffee drink",
    ),
    "spreadable": word_set(
        "butter jam sauce cream cheese glue paint perfume lotion mayonnaise ketchup mustard nutella paste powder gel",
        "soap frosting icing honey chocolate syrup oil shampoo margarine",
    ),
    "structure": word_set(
        "room building house kitchen store shop office car bus train vehicle booth stage field ring elevator tent",
        "garage bathroom bedroom hall classroom restaurant cave arena stadium church hotel school home bank museum",
        "library studio court pool bar club apartment",
    ),
    "device": word_set(
        "engine car bike bicycle computer phone laptop machine motor motorcycle radio television tv camera printer",
        "vehicle truck robot clock watch toy lamp pipe roof fence sink toilet washer dryer fridge vase cup window",
        "part chair table guitar piano",
    ),
}


@dataclass(frozen=True)
class StateChange:
    """A change: a thing that is `pre` becomes `post` by `verb`; `reverse` undoes it ("" if irreversible).

    `prepositions`: how verb and reverse link a place, as ("to", "from"): attach A to B, detach A from B.
    """

    pre: str
    verb: str
    post: str
    reverse: str
    transitivity: str
    object_type: str
    prepositions: tuple[str, str] = ("", "")
    stand_in: str = ""

    @property
    def reversible(self) -> bool:
        return bool(self.reverse)

    @property
    def transitive(self) -> bool:
        return self.transitivity in (TRANSITIVE, BOTH)

    @property
    def intransitive(self) -> bool:
        return self.transitivity in (INTRANSITIVE, BOTH)

    @property
    def links(self) -> Mapping[str, str]:
        """Return preposition -> the preposition of the reverse: ("into", "out of") of "put in"."""
        preposition, reverse_preposition = self.prepositions
        return {**({preposition: reverse_preposition} if preposition else {}), **LINKS.get(self.verb, {})}

    @property
    def particle(self) -> str:
        """Return the particle: "on" for "put on", "" for "fold"."""
        return self.verb.partition(" ")[2]


# Further prepositions that change with the verb.
LINKS: dict[str, dict[str, str]] = {
    "put in": {"in": "out of", "inside": "out of"},
    "put on": {"on": "off", "onto": "off"},
    "land": {"on": "from", "onto": "from", "in": "from"},
    "spread": {"on": "from", "onto": "from", "over": "from"},
    "put down": {"on": "from", "onto": "from"},
    "take out": {"from": "into"},
    "take off": {"off": "on"},
    "load": {"into": "from", "onto": "from", "on": "from"},
    "unload": {"from": "into", "out of": "into", "off": "onto"},
    "pack": {"into": "from", "in": "from"},
    "unpack": {"from": "into", "out of": "into"},
    "wrap": {"around": "from"},
    "unwrap": {"from": "around"},
    "lock": {"to": "from"},
    "unlock": {"from": "to"},
    "plug": {"into": "from", "in": "from", "to": "from"},
    "plug in": {"into": "from", "to": "from"},
    "connect": {"to": "from", "with": "from"},
    "screw": {"into": "from", "onto": "from", "on": "from", "to": "from"},
    "screw in": {"into": "from"},
    "screw on": {"on": "off", "onto": "off"},
    "attach": {"to": "from", "on": "from", "onto": "from"},
    "install": {"in": "from", "on": "from", "into": "from", "onto": "from", "to": "from"},
    "fix": {"on": "from", "to": "from", "onto": "from"},
    "hang up": {"on": "from"},
    "hang": {"on": "from", "from": "from"},
    "fasten": {"to": "from"},
    "insert": {"into": "from", "in": "from"},
    "mount": {"on": "from", "onto": "from"},
    "stick": {"to": "from", "on": "from", "onto": "from"},
}

_T, _I, _B = TRANSITIVE, INTRANSITIVE, BOTH
_TO, _IN, _OFF, _OUT = ("to", "from"), ("into", "out of"), ("onto", "off"), ("into", "from")

# pre, verb, post, reverse, transitivity, type of what changes, prepositions.
REVERSIBLE = (
    ("closed", "open", "open", "close", _B, "opening", ("", "")),
    ("unfolded", "fold", "folded", "unfold", _T, "cloth", ("", "")),
    ("unrolled", "roll up", "rolled up", "unroll", _T, "cloth", ("", "")),
    ("unwrapped", "wrap", "wrapped", "unwrap", _T, "thing", ("", "")),
    ("unzipped", "zip", "zipped", "unzip", _T, "garment", ("", "")),
    ("unbuttoned", "button", "buttoned", "unbutton", _T, "garment", ("", "")),
    ("untied", "tie", "tied", "untie", _T, "rope", _TO),
    ("unlocked", "lock", "locked", "unlock", _T, "opening", ("", "")),
    ("unplugged", "plug in", "plugged in", "unplug", _T, "connector", _OUT),
    ("loose", "screw", "tight", "unscrew", _T, "fastener", _OUT),
    ("empty", "fill", "full", "empty", _T, "container", ("", "")),
    ("unloaded", "load", "loaded", "unload", _T, "vehicle", _OFF),
    ("unpacked", "pack", "packed", "unpack", _T, "container", ("", "")),
    ("deflated", "inflate", "inflated", "deflate", _B, "inflatable", ("", "")),
    ("uncovered", "cover", "covered", "uncover", _T, "thing", ("", "")),
    ("visible", "hide", "hidden", "reveal", _T, "thing", ("", "")),
    ("detached", "attach", "attached", "detach", _T, "thing", _TO),
    ("disconnected", "connect", "connected", "disconnect", _T, "connector", _TO),
    ("disassembled", "assemble", "assembled", "disassemble", _T, "structure", ("", "")),
    ("unfastened", "fasten", "fastened", "unfasten", _T, "fastener", ("", "")),
    ("unbuckled", "buckle", "buckled", "unbuckle", _T, "fastener", ("", "")),
    ("unhooked", "hook", "hooked", "unhook", _T, "fastener", _TO),
    ("unsealed", "seal", "sealed", "unseal", _T, "container", ("", "")),
    ("off", "turn on", "on", "turn off", _T, "device", ("", "")),
    ("off", "switch on", "on", "switch off", _T, "device", ("", "")),
    ("off", "put on", "on", "take off", _T, "garment", ("", "")),
    ("outside", "put in", "inside", "take out", _T, "thing", _IN),
    ("removed", "put back", "in place", "remove", _T, "thing", ("in", "from")),
    ("outside", "insert", "inside", "remove", _T, "insertable", _OUT),
    ("off", "put on", "on", "remove", _T, "garment", ("", "")),
    ("detached", "attach", "attached", "remove", _T, "part", _TO),
    ("outside", "push in", "inside", "pull out", _T, "thing", _IN),
    ("in a lower position", "lift", "in a higher position", "put down", _T, "thing", ("", "")),
    ("in a lower position", "pick up", "in a higher position", "put down", _T, "thing", ("", "")),
    ("in a lower position", "raise", "in a higher position", "lower", _T, "thing", ("", "")),
    ("in a lower position", "rise", "in a higher position", "fall", _I, "thing", ("", "")),
    ("in a lower position", "ascend", "in a higher position", "descend", _I, "person", ("", "")),
    ("on the ground", "take off", "in the air", "land", _I, "vehicle", ("", "")),
    ("seated", "stand up", "standing", "sit down", _I, "person", ("", "")),
    ("asleep", "wake up", "awake", "fall asleep", _I, "person", ("", "")),
    ("dressed", "undress", "undressed", "dress", _T, "person", ("", "")),
    ("dry", "wet", "wet", "dry", _T, "surface", ("", "")),
    ("dry", "soak", "soaked", "dry off", _T, "cloth", ("", "")),
    ("dirty", "clean", "clean", "dirty", _T, "surface", ("", "")),
    ("dirty", "wipe", "spotless", "stain", _T, "surface", ("", "")),
    ("messy", "tidy up", "tidy", "mess up", _T, "surface", ("", "")),
    ("cold", "heat", "hot", "cool", _T, "food", ("", "")),
    ("cool", "warm up", "warm", "cool down", _B, "food", ("", "")),
    ("unfrozen", "freeze", "frozen", "thaw", _B, "liquid", ("", "")),
    ("solid", "melt", "melted", "harden", _B, "food", ("", "")),
    ("small", "expand", "large", "shrink", _B, "thing", ("", "")),
    ("short", "lengthen", "long", "shorten", _T, "thing", ("", "")),
    ("narrow", "widen", "wide", "narrow", _B, "opening", ("", "")),
    ("loosened", "tighten", "tightened", "loosen", _T, "fastener", ("", "")),
    ("bent", "straighten", "straight", "bend", _T, "thing", ("", "")),
    ("separate", "combine", "combined", "separate", _T, "food", ("with", "from")),
    ("scattered", "gather", "gathered", "scatter", _T, "thing", ("", "")),
    ("unstacked", "stack", "stacked", "unstack", _T, "thing", ("", "")),
    ("dark", "light up", "bright", "darken", _T, "surface", ("", "")),
    ("unlit", "light", "lit", "extinguish", _T, "thing", ("", "")),
    ("in motion", "stop", "still", "start", _B, "vehicle", ("", "")),
    ("mounted", "dismount", "dismounted", "mount", _T, "structure", ("from", "on")),
    ("unfurled", "furl", "furled", "unfurl", _T, "cloth", ("", "")),
    ("uncoiled", "coil", "coiled", "uncoil", _T, "rope", ("", "")),
    ("afloat", "sink", "under water", "surface", _I, "vehicle", ("", "")),
    ("broken", "repair", "intact", "break", _T, "device", ("", "")),
    ("free", "trap", "trapped", "release", _T, "person", ("", "")),
    # Other verbs of the changes above, and further ones; a verb's first row is its usual opposite.
    ("closed", "open up", "open", "close up", _B, "opening", ("", "")),
    ("unwrapped", "wrap up", "wrapped", "unwrap", _T, "thing", ("", "")),
    ("off", "wear", "on", "take off", _T, "garment", ("", "")),
    ("unplugged", "plug", "plugged in", "unplug", _T, "connector", _OUT),
    ("disconnected", "reconnect", "connected", "disconnect", _T, "connector", _TO),
    ("unlinked", "link", "linked", "unlink", _T, "connector", _TO),
    ("unsoldered", "solder", "soldered", "unsolder", _T, "connector", _TO),
    ("broken", "fix", "intact", "break", _T, "device", ("", "")),
    ("detached", "fix", "attached", "detach", _T, "part", ("on", "from")),
    ("out of place", "fit", "in place", "remove", _T, "thing", _OUT),
    ("inside", "extract", "outside", "insert", _T, "thing", ("from", "into")),
    ("outside", "inject", "inside", "extract", _T, "liquid", _OUT),
    ("disarranged", "arrange", "arranged", "disarrange", _T, "thing", ("", "")),
    ("shapeless", "form", "formed", "flatten", _T, "food", ("", "")),
    ("united", "divide", "divided", "combine", _T, "thing", ("", "")),
    ("gathered", "spread", "spread", "gather", _T, "thing", ("", "")),
    ("unspread", "spread", "spread", "wipe off", _T, "spreadable", ("", "")),
    ("soaking", "drain", "drained", "soak", _T, "food", ("", "")),
    ("dry", "rinse", "wet", "dry", _T, "surface", ("", "")),
    ("dirty", "wash", "clean", "dirty", _T, "surface", ("", "")),
    ("dry", "spray", "wet", "dry", _T, "surface", ("", "")),
    ("wiped up", "spill", "spilt", "wipe up", _T, "liquid", ("", "")),
    ("spilt", "absorb", "absorbed", "spill", _T, "liquid", ("", "")),
    ("cold", "heat up", "hot", "cool off", _T, "food", ("", "")),
    ("unheated", "preheat", "preheated", "cool down", _T, "device", ("", "")),
    ("high", "reduce", "low", "increase", _T, "thing", ("", "")),
    ("in a lower position", "climb", "in a higher position", "descend", _I, "person", ("", "")),
    ("in a higher position", "ski", "in a lower position", "ascend", _I, "person", ("", "")),
    ("in a lower position", "jump", "in a higher position", "descend", _I, "person", ("", "")),
    ("in a higher position", "drop", "in a lower position", "pick up", _T, "thing", ("", "")),
    ("in hand", "throw", "thrown", "catch", _T, "thing", ("", "")),
    ("distant", "pull", "close", "push", _T, "thing", ("", "")),
    ("filled in", "dig", "dug", "fill in", _T, "surface", ("", "")),
    ("hidden", "dig out", "visible", "bury", _T, "thing", ("", "")),
    ("uninstalled", "install", "installed", "uninstall", _T, "device", ("", "")),
    ("down", "hang up", "up", "take down", _T, "thing", ("", "")),
    ("down", "hang", "up", "take down", _T, "thing", ("", "")),
    ("unbuttoned", "button up", "buttoned", "unbutton", _T, "garment", ("", "")),
    ("unzipped", "zip up", "zipped", "unzip", _T, "garment", ("", "")),
    ("lit", "blow out", "unlit", "light", _T, "thing", ("", "")),
    ("unstuck", "stick", "stuck", "unstick", _T, "thing", ("to", "from")),
    ("outside", "enter", "inside", "leave", _T, "structure", ("", "")),
    ("further away", "take", "closer", "put back", _T, "thing", ("from", "in")),
    ("in motion", "park", "parked", "drive away", _T, "vehicle", ("", "")),
    ("unsorted", "sort", "sorted", "mix up", _T, "thing", ("", "")),
    ("loose", "screw in", "tight", "unscrew", _T, "fastener", ("", "")),
    ("off", "screw on", "on", "screw off", _T, "part", ("", "")),
    ("off", "power on", "on", "power off", _T, "device", ("", "")),
    # States that captions of earlier versions have.
    ("lower", "lift", "higher", "put down", _T, "thing", ("", "")),
    ("down", "raise", "up", "lower", _T, "thing", ("", "")),
    ("low", "rise", "high", "fall", _I, "thing", ("", "")),
    ("low", "ascend", "high", "descend", _I, "person", ("", "")),
    ("low", "climb", "high", "descend", _I, "person", ("", "")),
    ("high", "ski", "low", "ascend", _I, "person", ("", "")),
    ("on the ground", "jump", "in the air", "descend", _I, "person", ("", "")),
    ("held", "drop", "dropped", "pick up", _T, "thing", ("", "")),
    ("broken", "repair", "repaired", "break", _T, "device", ("", "")),
    ("soiled", "wash", "washed", "dirty", _T, "surface", ("", "")),
    ("liquid", "freeze", "frozen", "thaw", _B, "liquid", ("", "")),
    ("piled up", "spread", "spread", "pile up", _T, "thing", ("", "")),
    ("buried", "dig out", "dug out", "bury", _T, "thing", ("", "")),
)

# pre, verb, post, transitivity, type of what changes, the stand-in of mode paper.
IRREVERSIBLE = (
    ("whole", "chop", "in pieces", _T, "food", "connect"),
    ("whole", "tear", "torn", _T, "cloth", "assemble"),
    ("whole", "cut", "in pieces", _T, "thing", "join"),
    ("whole", "slice", "in slices", _T, "food", "combine"),
    ("whole", "grind", "ground", _T, "food", "assemble"),
    ("whole", "crush", "crushed", _T, "thing", "restore"),
    ("whole", "smash", "in shards", _T, "thing", "assemble"),
    ("whole", "shred", "in shreds", _T, "cloth", "assemble"),
    ("whole", "crack", "cracked", _T, "food", "fix"),
    ("intact", "burn", "burnt", _B, "thing", "extinguish"),
    ("intact", "demolish", "in ruins", _T, "structure", "build"),
    ("intact", "explode", "in bits", _I, "thing", "form"),
    ("unpeeled", "peel", "peeled", _T, "food", "cover"),
    ("raw", "cook", "cooked", _T, "food", "cool"),
    ("raw", "boil", "boiled", _B, "food", "cool"),
    ("raw", "fry", "fried", _T, "food", "cool"),
    ("raw", "bake", "baked", _T, "food", "cool"),
    ("raw", "grill", "grilled", _T, "food", "cool"),
    ("unmixed", "mix", "mixed", _T, "food", "separate"),
    ("unwhisked", "whisk", "whisked", _T, "food", "separate"),
    ("smooth", "crumple", "crumpled", _T, "cloth", "spread"),
    ("uneaten", "eat", "eaten", _T, "food", "serve"),
    ("unshaven", "shave", "shaven", _T, "person", "grow"),
    ("unpainted", "paint", "painted", _T, "surface", "clean"),
    ("unripe", "ripen", "ripe", _I, "food", "shrink"),
    ("blank", "print", "printed", _T, "surface", "erase"),
    ("in bud", "bloom", "in blossom", _I, "thing", "wither"),
    ("alive", "wither", "withered", _I, "thing", "bloom"),
    ("upright", "knock over", "on its side", _T, "thing", "set up"),
    ("whole", "cut up", "in pieces", _T, "food", "connect"),
    ("joined", "cut away", "severed", _T, "food", "attach"),
    ("thick", "pound", "flat", _T, "food", "thicken"),
    ("unstirred", "stir", "stirred", _T, "food", "separate"),
    ("in the bottle", "drizzle", "drizzled", _T, "liquid", "drain"),
    ("in the glass", "drink", "gone", _T, "liquid", "pour"),
    ("in the container", "drain", "drained away", _T, "liquid", "pour"),
    ("bare", "decorate", "decorated", _T, "surface", "strip"),
    ("blank", "ink", "inked", _T, "surface", "erase"),
    ("upright", "flip over", "overturned", _T, "thing", "set up"),
)


def _both_ways() -> Iterator[StateChange]:
    for pre, verb, post, reverse, transitivity, object_type, prepositions in REVERSIBLE:
        forward = StateChange(pre, verb, post, reverse, transitivity, object_type, prepositions)
        yield forward
        yield replace(forward, pre=post, verb=reverse, post=pre, reverse=verb, prepositions=prepositions[::-1])


def _one_way() -> Iterator[StateChange]:
    for pre, verb, post, transitivity, object_type, stand_in in IRREVERSIBLE:
        yield StateChange(pre, verb, post, "", transitivity, object_type, stand_in=stand_in)


TUPLES: tuple[StateChange, ...] = (*_both_ways(), *_one_way())


@cache
def by_verb() -> dict[str, tuple[StateChange, ...]]:
    """Return verb (with particle) -> its changes in the lexicon's order: the first is the usual one."""
    changes_by_verb: dict[str, list[StateChange]] = {}
    for entry in TUPLES:
        changes_by_verb.setdefault(entry.verb, []).append(entry)
    return {verb: tuple(entries) for verb, entries in changes_by_verb.items()}


@cache
def verbs_by_head() -> dict[str, tuple[str, ...]]:
    """Return first word -> the verbs that begin with it: "put" -> "put on", "put in" …"""
    verbs_by_word: dict[str, list[str]] = {}
    for verb in by_verb():
        verbs_by_word.setdefault(verb.partition(" ")[0], []).append(verb)
    return {head: tuple(verbs) for head, verbs in verbs_by_word.items()}
