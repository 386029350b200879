"""Words of direction and manner with their opposites, only where they say how something moves or is done."""

import re
from collections import Counter
from collections.abc import Iterator

from generation.grammar.surface import is_mentioned
from generation.grammar.word_opposites import Opposite, both_ways, opposites_in, opposition

_SEES = r"point(?:s|ing|ed)?"
_PANS = r"pan(?:s|ning|ned)?|tilt(?:s|ing|ed)?|scroll(?:s|ing|ed)?"
_RISES = rf"mov(?:es?|ing|ed)|fl(?:y|ies|ying|ew)|float(?:s|ing|ed)?|climb(?:s|ing|ed)?|{_PANS}"
_TURNS = (
    r"turn(?:s|ing|ed)?|swerv(?:es?|ing|ed)|spin(?:s|ning)?|swing(?:s|ing)?|driv(?:es?|ing)|drift(?:s|ing|ed)?"
    r"|shift(?:s|ing|ed)?|roll(?:s|ing|ed)?|rotat(?:es?|ing|ed)|skat(?:es?|ing|ed)|danc(?:es?|ing|ed)|jump(?:s|ing|ed)?"
    r"|ski(?:s|ing)?|rid(?:es?|ing)|crawl(?:s|ing|ed)?|push(?:es|ing|ed)?|pull(?:s|ing|ed)?|kick(?:s|ing|ed)?|thrown"
    rf"|swim(?:s|ming)?|run(?:s|ning)?|walk(?:s|ing|ed)?|step(?:s|ping|ped)?|slid(?:es?|ing)|{_SEES}|{_RISES}"
)
_PARTS = (
    r"hands?|arms?|foot|feet|legs?|eyes?|ears?|knees?|shoulders?|side|elbow|wrist|thumb|fist|heel|ankle|cheek|palm"
    r"|index\s+finger|paw|breast|wing|shoe|glove|thigh|corner|lane"
)
_LEADS = r"(?:the|his|her|its|their|a|with|one's|upper|lower|top|bottom|far)"
# The end of what an adverb describes.
_ENDS = r"(?=\s*(?:[.,;!]|$)|\s+(?:and|then|while|as|when|but|before|after|until)\b)"
_HOW = r"(?:\s+(?:slowly|quickly|slightly|straight|further|over|back))?"
# A side of which the other one is there, too.
_BOTH_SIDES = re.compile(
    r"\b(?:both|other|each|either|one|opposite|sides|alternat\w+|respectively|second|third|middle|leftmost"
    r"|rightmost|first|revers\w*|\w*clockwise|clock\s+wise)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\b(?:as|so|too|how|more|less)\s+$", re.IGNORECASE)
_SUDDEN = re.compile(
    r"\b(?:suddenly|immediately|instantly|abruptly|rush\w*|dash\w*|sprint\w*|hurr\w+|speed\w*|rapid\w*|fast\w*"
    r"|rac(?:es?|ing)"
    r"|creep\w*|strol\w*|crawl\w*|slow\w*|quick\w*|gradual\w*|realiz\w+|notic\w+|glanc\w+|snatch\w*|grabs?"
    r"|flash\w*|flick\w*"
    r"|runs?|running|ran|d(?:ies|ied|ying)|snap\w*|blink\w*|peek\w*|slap\w*|punch\w*|explain\w*|add(?:s|ed"
    r"|ing)?|provid\w*|say\w*|said|tell\w*|told|ask\w*|answer\w*|repl\w*|respond\w*|suggest\w*|admit\w*"
    r"|look\w*|while|becom\w+|motion|learn\w*|chang\w+)\b",
    re.IGNORECASE,
)
# What is looked at only below, or only above.
_BELOW = re.compile(
    r"\b(?:read\w*|writ\w*|typ\w*|phone|book|paper\w*|floor|ground|watch|plate|microscope|bed|table|pick\w*"
    r"|hand\w*|feet|sky"
    r"|ceiling|lights?|tree\w*|roof|leans?|bends?|bending|kneel\w*)\b",
    re.IGNORECASE,
)
# One looks both ways within seconds, and holds hands on both sides.
_LOOKING = re.compile(
    r"\b(?:look|glanc|star(?:e|ing)|gaz|peek|head|eyes?|hold(?:s|ing)\s+hands?\s+of)\w*", re.IGNORECASE
)
# What falls and rises has only one direction.
_BY_NATURE = re.compile(r"\b(?:f[ae]ll|drop|sink|sank|rise|rising|rose|descend|ascend|pour|drip)\w*", re.IGNORECASE)
_LOUD = re.compile(
    r"\b(?:cheer|applau|listen|look|say|said|tell|talk|speak|answer|yell|scream|shout|clap|laugh|crowd|sing"
    r"|whisper|cry|crie)\w*",
    re.IGNORECASE,
)
_NOT_PATHS = r"(?!\s+to\s)(?!\s+(?:\w+\s+)?(?:hats?|caps?|visor|baseball|flips?|somersaults?|handspring|dive))"
_SIDES = both_ways("left", "right")
OPPOSITIONS = (
    opposition("rotation", both_ways("clockwise", "counterclockwise counter-clockwise anticlockwise anti-clockwise")),
    opposition(
        "path",
        both_ways("backwards", "forwards") | both_ways("backward", "forward"),
        before=rf"(?:{_TURNS}){_HOW}",
        after=_NOT_PATHS,
    ),
    opposition(
        "path", both_ways("backward", "forward"), before=r"lean(?:s|ing|ed)?", after=r"(?=\s*(?:[.,;!]|$)|\s+while\b)"
    ),
    opposition("path", both_ways("upwards", "downwards") | both_ways("upward", "downward")),
    opposition("path", both_ways("up", "down"), before=rf"(?:{_RISES}|{_SEES}){_HOW}", after=_ENDS),
    opposition("path", both_ways("up", "down"), before=rf"go(?:es|ing){_HOW}", after=r"(?=\s*(?:[.,;!]|$))"),
    opposition("zoom", both_ways("in", "out"), before=r"zoom(?:s|ing|ed)?", after=_ENDS),
    opposition("side", _SIDES, before=_LEADS, after=rf"(?=\s+(?:{_PARTS})\b)"),
    opposition(
        "side",
        _SIDES,
        before=rf"(?:to|on|from|towards?|at)(?:\s+{_LEADS}){{0,2}}",
        after=rf"(?:{_ENDS}|(?=\s+of\b))",
    ),
    opposition("side", _SIDES, before=rf"(?:{_TURNS}){_HOW}", after=_ENDS),
    opposition("speed", both_ways("slowly", "quickly rapidly swiftly")),
    opposition(
        "speed", both_ways("fast", "slowly"), before=rf"(?:{_TURNS})(?:\s+(?:very|really|pretty))?", after=_ENDS
    ),
    opposition("manner", both_ways("loudly", "quietly softly") | both_ways("happily", "sadly")),
)


def directions(text: str) -> Iterator[Opposite]:
    """Yield the opposites of words of direction and manner that a caption has once, and whose opposite it lacks."""
    opposites = list(opposites_in(text, OPPOSITIONS))
    # Each other check reads the whole caption; words that it has once are few, whatever its length.
    places = Counter(text[start:end].lower() for start, end in {(row.start, row.end) for row in opposites})
    for opposite in opposites:
        if places[text[opposite.start : opposite.end].lower()] > 1:
            continue
        rest = f"{text[: opposite.start]} | {text[opposite.end :]}"
        if is_mentioned(opposite.target, rest, []) or is_mentioned(text[opposite.start : opposite.end], rest, []):
            continue
        if opposite.kind in ("side", "rotation", "path") and _BOTH_SIDES.search(rest):
            continue
        if opposite.target in ("up", "down") and _BELOW.search(rest):
            continue
        if opposite.kind == "path" and _BY_NATURE.search(rest):
            continue
        if opposite.kind in ("side", "path") and _LOOKING.search(text[: opposite.start]):
            continue
        if opposite.kind == "speed" and _SUDDEN.search(rest):
            continue
        if opposite.kind == "manner" and _LOUD.search(rest):
            continue
        if not _COMPARED.search(text[: opposite.start]):
            yield opposite
