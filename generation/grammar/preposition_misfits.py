"""Tell why the sentence around a preposition fits only the old one, or both: "closes the door behind him"."""

import re

from foilworks.core.text.language.inflection import lemmas
from generation.grammar.preposition_choice import head_noun

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SENTENCE_END = re.compile(r"[.;!?]")
# Characters read on both sides: keeps the time linear.
WINDOW = 300
# A few words before the landmark's noun.
SKIP = r"(?:\w+ ){0,3}?"
NEXT = r"\A" + SKIP
# Landmarks without a front: behind and in front depend on the viewer.
NO_FRONT = (
    r"(?:tables?|desks?|counters?|canvas|easel|micro?phones?|mics?|podium|lectern|stands?|telescope|drums?"
    r"|drumset|piano"
    r"|keyboard|refrigerator|fridge|closet|cupboard|wardrobe|dresser|stove|oven|sink|washer|dryer|dishwasher"
    r"|instruments?|machine|net)\b"
)
# Whom or what one does these to is near.
CONTACT = (
    r"(?:\b(?:and|then|to)|,) (?:\w+ )?(?:kiss|hug|hit|shak|touch|grab|punch|slap|kick|embrac|pat|hand|giv|tak|pick"
    r"|sit|sat|open|talk|speak|greet|put|plac|get|stand|pet|push|pull|stop|pass|whisper|join|look)"
)
POSTURES = r"\b(?:lean|reach|bend|bent|stretch|crouch|squat|kneel|knelt"
GLIDING = r"\b(?:(?:sled|snowboard|toboggan|tub)(?:s|d?ing)?\b|slid|sleigh|f[ae]ll|ski|skat|railing)"
SEATED = r"\b(?:sit|sat|sitting|sits|lie|lies|lying|lay|lays|laying)\b"
MOVED = r"\b(?:go|goes|going|walk|walks|walking|run|runs|running|come|comes|coming|climb|climbs|move|moves) (?:\w+ )?"
VIEWER = "the viewer decides what is in front"
DIRECTION = "another act needs the direction"
PLACE = "the act needs its place"
BOTH = "it may be both, or goes both ways"
# Phrases, targets ("" is any), what the sentence says before and behind, and why the target does not fit.
MISFITS = (
    ("behind|in front of", "behind|in front of", "", NEXT + NO_FRONT, VIEWER),
    ("behind|in front of", "", r"\b(?:doors?|gates?) $|\bdis+ap+ear|\b(?:vanish|hid(?:es?|ing|den)\b|emerg)", "", BOTH),
    ("behind|in front of", "", r"\b(?:in front of|behind|follow\w*|pull\w*|drag\w*|clos\w*|shut\w*)\b", "", BOTH),
    ("behind|in front of", "", r"\b(?:open|unfold|hang)\w* $", "", VIEWER),
    ("in front of", "behind", r"\b(?:watch|look|read|see|star|stud|gaz|play)\w*", r"\A(?:him|her|them|it)\b", VIEWER),
    ("behind|in front of|towards?|away from", "", "", r"\b(?:comes? out|back to)\b", BOTH),
    ("towards?|away from", "", POSTURES + r"|carv|cut|slic|peel|sit|lying|lays|lie|point|aim)\w*", "", DIRECTION),
    ("behind|in front of", "", "", NEXT + r"(?:faces?|eyes|mouth|heads?)\b", PLACE),
    ("away from", "towards", r"\btak\w*", "", DIRECTION),
    ("towards?", "away from", "", CONTACT, "what follows needs the approach"),
    ("away from", "towards", "", r"\b(?:leav|exit)", DIRECTION),
    ("into|out of", "", "", r"\A(?:(?:the|an?) )?(?:\w+ )?(?:view|sight|frame|shot|focus|picture|scene)\b", BOTH),
    ("into|out of", "", "", r"\A(?:(?:the|an?) )?(?:\w+ )?(?:doors?|doorway|window)\b", BOTH),
    ("into|out of", "", r"\b(?:after|before|while|when|by|from) \w+ing $", "", DIRECTION),
    ("into|out of|off|onto", "", r"\bends? (?:by|with|up)\b|\b(?:again|back) $", "", DIRECTION),
    ("into|out of|off|onto", "", "", r"\b(?:leav|exit|return|follow|come[sn]? (?:back|out))", DIRECTION),
    ("into|out of", "", r"\b(?:drain|blow|peer|speak|talk)\w*", r"\A(?!.*room)", PLACE),
    ("into|out of", "", "", r"\Aanother\b", BOTH),
    ("into", "out of", r"\bput\w*\b|\b(?:its contents|himself|herself|themselves)\b", "", PLACE),
    ("into", "out of", r"\b(?:jump|div|dove|leap)\w*", NEXT + r"(?:water|pool|lake|sea|ocean|river)\b", PLACE),
    (
        "onto",
        "off",
        r"\b(?:put|plac|throw|threw|toss|lay|set|pour|vault|load|flip|land|spoon|scoop|squeez)\w*",
        "",
        PLACE,
    ),
    ("onto|off", "", "", r"\A(?:it|them)\b|\bover\b|, (?:which|where)", PLACE),
    ("outside|inside", "", r"\b(?:go|goes|going|push|pull|throw|run|step)\w*\b", "", "the caption tells where from"),
    ("outside|inside", "", "", r"\A(?:\w+ )?ring\b", BOTH),
    ("on top of", "under", r"\b(?:put|plac|spread|pour)\w*", "", PLACE),
    ("on top of", "under", "", NEXT + r"(?:snow\w*|hills?|mountains?|mound|rocks?|cliff|building|roof|house)\b", PLACE),
    ("under", "", "", NEXT + r"(?:windows?|signs?|lights?|slit)\b", PLACE),
    ("under", "", r"\b(?:look|hid|search|peer|crawl)", "", PLACE),
    ("under", "", "", NEXT + r"(?:blankets?|covers?)\b", PLACE),
    ("over|under|above|below", "", r"\b(?:arms?|hands?|fists?|legs?|feet|head)\b", "", PLACE),
    ("on top of|on", "under", SEATED, NEXT + r"(?:beds?|couch|sofa|counter|countertop)\b", PLACE),
    ("behind|in front of", "", r"\b(?:tailgat|leave|leaving|left|stream|trail|chas)", "", DIRECTION),
    ("behind|in front of", "", "", r"\A(?:us|me|\w+ing)\b|\blook\w* (?:for?|in|at|through)\b", VIEWER),
    (
        "over|under|above|below",
        "",
        r"\b(?:canoe|boat|raft|kayak|ship|swim|duck|fish|row|paddl|surf|float|swam|river|water)",
        NEXT + "bridge",
        "boats pass under bridges",
    ),
    ("up|down", "", "", NEXT + r"(?:ramps?|half-?pipe|slides?|poles?|ropes?|bars?|walls?)\b", BOTH),
    ("up|down", "", "", NEXT + r"(?:waterfalls?|rapids|cliff)\b|\b(?:back|up|down|top|bottom)\b", BOTH),
    ("up|down", "", MOVED + r"(?:up|down|back)\b|\bback $", "", BOTH),
    ("up|down", "", GLIDING, "", DIRECTION),
    ("up|down", "", "", GLIDING, DIRECTION),
    ("behind|in front of", "", r"\bdrum|\b(?:table|desk|bar|counter)\b", "", VIEWER),
    (
        "behind|in front of",
        "",
        "",
        NEXT
        + r"(?:audiences?|bleachers|judges|stands|crowds?|people|spectators|buildings?|cakes?|plates?|bowls?|food)\b",
        PLACE,
    ),
    ("in|inside", "outside", "", r"\b(?:and|then|they|he|she)\b|;", PLACE),
    ("under|underneath|beneath", "on top of|on", r"\b(?:drawers?|cabinets?|cupboards?|shelf|shelves)\b", "", PLACE),
)
# What follows an entry: "and closes both sides of the window".
NEXT_ACT = re.compile(r"\b(?:and|then)\b|,")
INDOOR_ACT = re.compile(r"\b(?:clos|open|shut|clean|sweep|vacuum|window|cupboard|cabinet|shel[fv]|stove|fridge|bed)\w*")
PAST = frozenset({"took", "went", "ran", "came", "put", "sat", "stood", "got", "threw", "picked"})
BODY = re.compile(POSTURES + r"|climb|help|us|need|tri)\w*")
CLAUSE_END = re.compile(r",|\bthen\b")
TAKEN = re.compile(r"\b(?:tak|took|grab|pick|get|retriev|fetch|crack|measur|carr|hold|bring)")
POURED = re.compile(r"\bpour")
PATTERNS = tuple((tuple(re.compile(pattern) for pattern in row[:4]), row[4]) for row in MISFITS)


def misfit(text: str, phrase: str, start: int, end: int, target: str) -> str:
    """Return why the rest of the caption does not fit `target` instead of the preposition at `start:end`, or ""."""
    *earlier, before = SENTENCE_END.split(text[max(0, start - WINDOW) : start].lower())
    behind = SENTENCE_END.split(text[end : end + WINDOW].lower())[0].lstrip()
    for (phrases, targets, pattern_before, pattern_behind), why in PATTERNS:
        is_row = phrases.fullmatch(phrase) and (not targets.pattern or targets.fullmatch(target))
        if is_row and pattern_before.search(before) and pattern_behind.search(behind):
            return why
    if phrase in ("into", "out of") and BODY.search(CLAUSE_END.split(before)[-1]):
        return DIRECTION
    if (
        phrase in ("into", "out of", "from")
        and target in ("into", "out of")
        and _is_elsewhere(earlier, before, behind, target)
    ):
        return "another act of the caption tells where it happens"
    if (
        phrase in ("into", "out of")
        and POURED.search(before)
        and (any(map(str.strip, earlier)) or NEXT_ACT.search(behind))
    ):
        return "another step needs this one"
    taken = TAKEN.search(before) if (phrase, target) == ("into", "out of") else None
    if taken and POURED.search(before, taken.end()):
        return "it is poured out of what is taken"
    head = head_noun(WORD.findall(behind))
    if target in ("into", "out of", "onto", "off", "towards", "away from") and head:
        is_there = rf"\b(?:on|in|inside|onto|into) {SKIP}{re.escape(head)}\b"
        if re.search(is_there, text[max(0, start - WINDOW) : start].lower()):
            return f"the caption says earlier who is at the {head}"
    return ""


def _is_elsewhere(earlier: list[str], before: str, behind: str, target: str) -> bool:
    """Return whether what is done before or after happens in the place that somebody enters or leaves."""
    if target == "into":
        verbs = [word for word in WORD.findall(before) if _is_act(word)]
        return len(verbs) > 1 or any(map(str.strip, earlier))
    return bool(NEXT_ACT.search(behind)) and bool(INDOOR_ACT.search(behind))


def _is_act(word: str) -> bool:
    """Return whether a word is a finite verb or participle: "closes", "walking"."""
    readings = lemmas(word)
    return (word.endswith(("s", "ed", "ing")) and "VERB" in readings and word not in readings["VERB"]) or word in PAST
