"""Tell whether a caption asserts the words that a foil changes: not if they are denied, asked, wished or supposed.

"The man does not open the door" and "The man does not close the door" can both be true. Words outside the clause of
such a word stay free: "a man sits down and does not speak".
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from foilworks.core.text.diff import Edit

SENTENCE_END = re.compile(r"(?<![.!?;])[.!?;]+(?=\s|$)")
# A clause ends here. Behind "and", a finite verb of the third person or a new subject begins another one.
CLAUSE_END = re.compile(
    r"[,:()]|\b(?:but|while|whilst|as|when|whenever|where|because|so|before|after|until|then|since|although|though)\b"
    r"|\b(?:and|or)\s+(?=(?:then|the|a|an|another|he|she|it|they|his|her|their)\b|\w+s\s)",
    re.IGNORECASE,
)
_DENIED = (
    r"not|never|cannot|nobody|no\s*-?one|nothing|none|neither|nor|nowhere|hardly|barely|scarcely|rarely|seldom"
    r"|lack(?:s|ed|ing)?"
    r"|unable|unsuccessfully|without\s+(?:\w+ly\s+)?(?!clothing|ceiling|string|ring|evening|building)\w+ing"
    r"|too\s+\w+\s+to(?=\s+\w+)"
    r"|instead\s+of|rather\s+than|(?<!with\s)(?<!says\s)(?<!has\s)(?<!have\s)(?<!into\s)no(?!\.|\s+matter|\s+doubt)"
    r"|fail(?:s|ed|ing)?\s+(?:to|at|in)|refus(?:es?|ed|ing)|declin(?:es?|ed|ing)\s+to|forg(?:ets?|etting|ot)\s+to"
    r"|avoid(?:s|ed|ing)?|resist(?:s|ed|ing)?|hesitat(?:es?|ed|ing)|misses"
    r"|(?:stop|prevent|keep|discourage)(?:s|p?ed|ping|ing)?\s+(?:(?!and\b)\w+\s+){1,6}?from(?=\s+\w+ing)"
)
_UNREAL = (
    r"almost|nearly|(?:pretend|want|wish|hope|plan|intend|expect|dream|imagin)(?:e?s|ed|ing)?"
    r"|(?:threaten|promis)(?:e?s|ed|ing)?\s+to"
    r"|(?:attempt(?:s|ed|ing)?|tr(?:y|ies|ied|ying)|prepar(?:es?|ed|ing)|seem(?:s|ed)?|appear(?:s|ed)?"
    r"|offer(?:s|ed)?|ready|eager)\s+to(?=\s+\w+)"
    r"|wann?a|gonna|about\s+to|(?:is|are|was|were|'s|’s|be)\s+going\s+to|supposed\s+to|unless|in\s+order\s+for"
    r"|might|may(?!\s+\d)|would|should|could|will|must|shall|ought|maybe|perhaps|possibly|probably|presumably"
    r"|(?:needs?|needed|ha[sd]|have)\s+to|can(?=\s+be\s)|(?<=he\s)can|(?<=they\s)can|(?<=you\s)can"
    r"|(?<=one\s)can|(?<=who\s)can"
)
DENIED = re.compile(rf"(?<![\w'’-])(?:{_DENIED})(?![\w'’-])|\w*n['’]t\b", re.I)
# In a clause with one of these nothing is asserted.
UNASSERTED = re.compile(rf"(?<![\w'’-])(?:{_DENIED}|{_UNREAL})(?![\w'’-])|\w(?:n['’]t|['’]ll|['’]d\s+like)\b", re.I)
# "can be seen" is how captions say "is there"; "will" and "may" are also names of things and months.
ALLOWED = re.compile(
    r"(?:could|can|may|might)\s+be\s+(?:seen|heard)|(?:you|one|we|i)\s+(?:can|could|will"
    r"|may)\s+(?:also\s+)?(?:see|hear|notice)"
    r"|will\s+\w+[^su]s\b|not\s+only|(?:free|good|last|own|the|a)\s+will|almost\s+(?:immediately|all|every"
    r"|completely|always|the)"
    r"|(?:appear|seem)s?\s+to\s+be\s+(?:having|enjoying)",
    re.IGNORECASE,
)
# What follows is asked, said, or compared; what precedes is asserted.
REPORTED = re.compile(
    r"\b(?:as\s+(?:if|though)|whether|how\s+to|looks?\s+like\s+(?:he|she|they|it)"
    r"|(?:ask|see|check|wonder|know|decide|find|figure|tell|sure)\w*\s+(?:\w+\s+){0,2}?if"
    r"|(?:say|read|state|claim|think|believe|announce|suggest|explain|tell|mention|promise"
    r"|show)\w*\s+(?:\w+\s+){0,2}?that"
    r"|(?:says|saying|said)(?=\s+[\"“'‘])|(?:asked|told|ordered|instructed|invited|reminded|warned)\s+to"
    r"|(?:ask|tell|yell|shout|scream|call|order|instruct|beg|urge|remind|invite|command|warn|convince|persuade"
    r"|encourage|signal|motion"
    r"|gesture)(?:s|ed|ing|ling)?\s+(?:for\s+)?(?:\w+\s+){1,4}?to(?=\s+[a-z]+))\b",
    re.IGNORECASE,
)
# A condition, or a question without its mark.
SUPPOSED = re.compile(
    r"^\W*(?:if|unless|in\s+case|suppose|imagine|let\s+us|let's)\b"
    r"|^\W*(?:is|are|was|were|does|did|has|can|could|will|would|should|who|whose|what|why|which)\s(?!\w+s\b)"
    r"|^\W*(?:do|have)\s+(?:you|they|we|the\s+\w+|any)\s|,\s*(?:only\s+)?if\b"
    r"|\bif\s+(?:the|a|an|he|she|it|they|you|someone)\b",
    re.IGNORECASE,
)
MAX_LENGTH = 20_000


def why_unasserted(text: str, edits: Sequence[Edit]) -> str:
    """Return why a change of these words may leave the caption true, or "".

    `edits` need offsets into `text` only; their targets are not read.
    """
    if len(text) > MAX_LENGTH or not edits or not _has_mark(text):
        return ""
    for start, end in _sentences(text):
        changed = [edit for edit in edits if edit.start < end and edit.end > start]
        if changed and (why := _in_sentence(text, start, end, changed)):
            return why
    return ""


@lru_cache(maxsize=4096)
def _has_mark(text: str) -> bool:
    """Return whether any word or mark may keep a clause from being asserted; most captions have none."""
    return (
        "?" in text
        or any(pattern.search(text) for pattern in (UNASSERTED, REPORTED))
        or any(SUPPOSED.search(text[start:end]) for start, end in _sentences(text))
    )


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    starts = [0, *ends]
    return [(start, end) for start, end in zip(starts, [*ends, len(text)], strict=True) if text[start:end].strip()]


def _in_sentence(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    if text[:end].rstrip("\"'”’) ").endswith("?"):
        return "the caption asks it, so it is neither true nor false"
    reported = REPORTED.search(text, start, end)
    limit = reported.end() if reported else end
    if any(edit.end > limit for edit in edits):
        return f"the caption does not assert what follows '{reported.group()}'" if reported else ""
    if supposed := SUPPOSED.search(text[start:limit]):
        return f"the caption does not assert it ('{supposed.group().strip()}')"
    for match in UNASSERTED.finditer(text, start, limit):
        if any(allowed.start() <= match.start() < allowed.end() for allowed in ALLOWED.finditer(text, start, end)):
            continue
        if any(edit.start < match.start() and match.end() < edit.end for edit in edits):
            # It moves with its phrase: "the man who was trying to flee".
            continue
        if any(_removes(edit, match) for edit in edits) and not any(DENIED.search(edit.target) for edit in edits):
            continue
        first, last = _clause(text, start, limit, match.start(), match.end())
        if any(edit.start < last and edit.end > first for edit in edits):
            return f"the caption does not assert it ('{' '.join(match.group().split())}')"
    return ""


def _removes(edit: Edit, match: re.Match[str]) -> bool:
    """Return whether an edit takes a denial away ("not", "no", "fails"): then the foil says what the caption denies."""
    starts_in = edit.start <= match.start() < edit.end
    return starts_in and bool(DENIED.match(match.group())) and not DENIED.search(edit.target)


def _clause(text: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Return the clause around the characters `first:last`."""
    bounds = [match.span() for match in CLAUSE_END.finditer(text, start, end)]
    before = [bound_end for _, bound_end in bounds if bound_end <= first]
    after = [bound_start for bound_start, _ in bounds if bound_start >= last]
    return (before[-1] if before else start), (after[0] if after else end)
