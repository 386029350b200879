"""What ties a caption to one person: a relative, a role, a possession, a romance, or the name again, even misspelt."""

import re
from difflib import SequenceMatcher

from foilworks.core.text.language.appearance import BODY, CLOTHES
from generation.grammar.surface import word_set

WORD = re.compile(r"[^\W\d_]+")
KIN = re.compile(
    r"\b(?:daughter|son|mother|father|mom|mum|dad|parent|brother|sister|sibling|wife|husband|girlfriend"
    r"|boyfriend|fianc|"
    r"ex|uncle|aunt|cousin|niece|nephew|grand\w+|baby|kid|child|children|family|agent|boss|mistress|lover|bride|groom|"
    r"twin|roommate)(?:s|e|ee|['’]s)?\b",
    re.IGNORECASE,
)
ROLE = re.compile(
    r"\b(?:(?<!each )others?|doctors?|nurses?|waitress|waiter|detectives?|the rest|audition|pretend\w*|disguis\w*|"
    r"interrogat\w*|captain|lieutenant|sergeant|commander|chief|professor|inspector|(?:walk|run|sit|stand|go|com|leav)"
    r"(?:s|es|ing)?\s+with|order|singing|music video|tour|wedding|engaged?|proposal|proposes?|birthday)\b",
    re.IGNORECASE,
)
ROMANCE = re.compile(
    r"\b(?:kiss\w*|in bed|make out|making out|makes out|lips|chest|sex|naked|loves?|marr\w+|dat(?:e|es|ing)|"
    r"cuddl\w*|romantic\w*|lap)\b",
    re.IGNORECASE,
)
OWNED = re.compile(
    r"\b(?:his|her) (?:own |\w+ed |\w+ing |new |old |big |little |left |right |two |both )?(\w+)", re.IGNORECASE
)
# "her" without its noun, not before its noun.
NOT_OWNED = word_set(
    "and or but to in on at from with by as while when that is was a the up down out off over away for"
)
# What anybody may have in hand.
ANYBODYS = (
    BODY
    | CLOTHES
    | word_set(
        "phone cellphone cell bag cup drink chair seat desk hat coat jacket wand keys key glass food lunch laptop book",
        "bed plate coffee bottle fork spoon computer couch back side sides way belongings purse jersey things stuff",
        "pen mug beer tea wine hands arms legs eyes feet fingers shoulders knees face hair head mouth ears lap voice",
        "gaze expression breath shoes name menu index lower upper facial apartment window room door patient own",
    )
)
ALIKE = 0.72


def tie(text: str) -> str:
    """Return what ties the caption to one of its persons, or ""."""
    for pattern, why in ((KIN, "a relative"), (ROLE, "a role"), (ROMANCE, "a romance")):
        if match := pattern.search(text):
            return f"'{match.group()}' may be {why} of the person"
    for match in OWNED.finditer(text):
        if match[1].lower() not in ANYBODYS | NOT_OWNED:
            return f"'{match[1]}' may belong to one person only"
    return ""


def names_again(text: str, name: str, start: int, end: int) -> bool:
    """Return whether a capitalized word outside `start:end` is the name or nearly the name."""
    for match in WORD.finditer(text):
        word = match.group()
        outside = match.end() <= start or match.start() >= end
        if outside and word[0].isupper() and any(_alike(word, own) for own in name.split()):
            return True
    return False


def _alike(word: str, name: str) -> bool:
    if abs(len(word) - len(name)) > 2:
        return False
    return SequenceMatcher(None, word.lower(), name.lower(), autojunk=False).ratio() >= ALIKE
