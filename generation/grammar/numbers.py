"""Find the count that a caption states, and replace it by another count so that the sentence stays correct."""

import itertools
import re
from dataclasses import dataclass

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.inflection import can_be, lemmas, plain_verb, plural, singular, third_person
from foilworks.core.text.language.numbers import ADVERBS, LARGE, VALUES, match_case, value_of, written_like
from generation.grammar.number_words import (
    BE_FORMS,
    BEFORE_NOUN,
    CLOSED,
    IRREGULAR_PLURALS,
    MASS,
    MOMENTS,
    ONE_NAMES,
    OPENERS,
    PAIRED,
    PREPOSITIONS,
    PRONOUNS,
    TRAILING,
    UNCHANGED,
    UNITS,
)
from generation.grammar.surface import WORD_ENDS, WORD_STARTS, word_set

NUMBER = r"(?P<number>[0-9]+|[A-Za-z]+)"
EXACTLY = re.compile(rf"{WORD_STARTS}(?ai:exactly)\s+{NUMBER}{WORD_ENDS}")
IN_TOTAL = re.compile(
    rf"{WORD_STARTS}(?:{NUMBER}\s+(?ai:times?)|(?P<adverb>(?ai:once|twice|thrice)))\s+(?ai:in\s+total){WORD_ENDS}"
)
BARE = re.compile(rf"{WORD_STARTS}{NUMBER}{WORD_ENDS}")
WORD = re.compile(r"\s*([A-Za-z]+(?:['’-][A-Za-z]+)*|\d+(?:-[A-Za-z]+)*)")
# "exactly two hundred", "three or four", "3.5", "50 %", "two o'clock", "two-thirds": not plain counts.
NOT_A_COUNT = re.compile(
    r"(?:[.,:/]\d|\s*[%°]|\s+(?:or|to|and|point|of)\s+(?:a\s+half|\d|(?:" + "|".join(VALUES) + r")\b)"
    r"|\s+(?:o['’]clock|percent|am|pm|a\.m\.|p\.m\.|half|halves|thirds?|quarters?|fifths?|(?:years?|months?"
    r"|weeks?|days?)[\s-]+olds?)\b)",
    re.IGNORECASE,
)
# A bound leaves other numbers true as well: "at least three times", "two or more dogs".
BOUND_BEFORE = re.compile(
    r"\b(?:at\s+(?:least|most)|(?:more|less|fewer|greater|other)\s+than|as\s+many\s+as|a\s+(?:minimum|maximum)\s+of"
    r"|almost|nearly|approximately|roughly|maybe|perhaps|probably|or|of\s+(?:around|about)|all\s+but)\s+$",
    re.IGNORECASE,
)
BOUND_BEHIND = re.compile(
    r"\s*\+|\s+plus\b|\s+and\s+(?:more|above|over)\b|[^.,;:!?]{0,40}?\s+or\s+(?:more|less|fewer|so|above|over)\b",
    re.IGNORECASE,
)
# Before a subject these are bounds, the first of them before "times" too; elsewhere they are a place or a turn: "jumps
# over two dogs", "walks up to two men", "spins around two times".
HEDGE_BEFORE = re.compile(r"\b(?:(?P<of_times>about|up\s+to|some)|around|over|under)\s+$", re.IGNORECASE)
# Words before a number word that is not a count: "no one", "number 3", "the one".
NAMES_BEFORE = re.compile(
    r"(?:\b(?:no|some|another|between|any|every|each|which|the|this|that|these|those|same|other|first|last|next"
    r"|remaining|previous|following|high|number|no\.|room|channel|at|day|part|step|take|game)\s+"
    r"|[#$€£.,:/]\s*)$",
    re.IGNORECASE,
)
# Both sides do it to each other: one alone does not.
RECIPROCAL = re.compile(
    r"\b(?:hug|kiss|fight|wrestl|box|fenc|spar|shar|rac|compet|meet|convers|chat|talk|debat|argu|battl"
    r"|play-fight|tug|duel|"
    r"hand-?shake|handshake|match|versus|vs|against|high-five|gather|crowd|group|pair|row|line|surround|band|choir|"
    r"huddl|coupl|back[- ]to[- ]back|side by side|hand[- ]in[- ]hand"
    r"|hold(?:s|ing)? hands|ping pong|tennis|squash|badminton|chess|shuffleboard)\w*",
    re.IGNORECASE,
)
# "his two front paws": how many there are is known.
OWN_BEFORE = re.compile(r"\b(?:his|her|its|their|my|our)\s+$", re.IGNORECASE)
# "three of them": the count is taken up again.
OF_THEM = re.compile(r"\bof (?:them|which|whom)\b", re.IGNORECASE)
EXACT_BEFORE = re.compile(r"\bexactly\s+$", re.IGNORECASE)
# So many at once are not written of such a scene.
MOST_TIMES = 3
SEVERAL_BEFORE = re.compile(
    r"\b(?:between|among|(?:group|pair|team|set|couple|line|row|bunch|side)s?)\s+(?:of\s+)?$", re.IGNORECASE
)
# "two shirts on hangers": one is on one.
PLURALS_BEHIND = re.compile(
    r",?\s+(?:on|with|in|at|wearing|holding|carrying|riding)\s+(?:(?!an?\b|the\b"
    r"|\w+ing\b)\w+\s+){0,5}?(?!\w*(?:ss|us|is|as)\b)\w{3,}s\b",
    re.IGNORECASE,
)
FROM_TO = re.compile(r"\bfrom\s+one\b[^.;]{0,40}?\bto\s+(?:another|the\s+other|the\s+next)\b", re.IGNORECASE)
# "two kids play and run": the second verb would have to agree, too.
AND_VERB = re.compile(
    r"[^.;]*?\b(?:and|then)\s+(?:then\s+)?(?!the\b|an?\b|his\b|her\b|their\b)[a-z]+(?:\s+(?:the|an?|in|on|to|at"
    r"|with|up|down|away|out|\w+ing)\b|\s*[.,]|$)",
    re.IGNORECASE,
)
IN_A_ROW = re.compile(r"\b(?:row|line)\s+of\s+$", re.IGNORECASE)
# "places one herb on the plate and rinses it"
TAKEN_UP = re.compile(r"\b(?:it|its|them|they)\b", re.IGNORECASE)
HEDGED_TIME = re.compile(r"\b(?:about|around|approximately|roughly)\s+\w+\s+(?:second|minute|hour|day|time)s?\b", re.I)
# "cuts the cake in two", "all but two"
DIVIDED = re.compile(r"\b(?:in|into)\s+$", re.IGNORECASE)
# Behind a counted noun these are no part of it: "one man left".
BEHIND_NOUN = word_set("left alone seated dressed clad")
THERE_BE = re.compile(r"\bthere\s+(is|are|was|were)\s+(?:exactly\s+)?$", re.IGNORECASE)
AND_BEFORE = re.compile(r"\b(?:and|or)\s+(?:exactly\s+)?$", re.IGNORECASE)
MAX_PHRASE_WORDS = 12

Token = tuple[int, int, str]


@dataclass(frozen=True)
class Count:
    """A stated count: characters `start:end` mean `value`; `adverb` for once, twice, thrice."""

    text: str
    start: int
    end: int
    value: int
    adverb: bool

    @property
    def word(self) -> str:
        return self.text[self.start : self.end]


def find_count(text: str, anchor: str) -> Count | str:
    """Find the first count that the caption states, or the reason why there is none.

    `anchor` "exactly": only "exactly N" and "N times in total" (ViLMA's templates); "any": else any number word too.
    """
    reason = "it has no “exactly” before a number; anchor “any” also takes other numbers"
    for pattern in (EXACTLY, IN_TOTAL):
        for match in pattern.finditer(text):
            count_or_reason = _count(text, match)
            if isinstance(count_or_reason, Count):
                return count_or_reason
            reason = count_or_reason or reason
    if anchor == "exactly":
        return reason
    reason = "it has no number that counts a thing"
    for match in BARE.finditer(text):
        count_or_reason = _count(text, match)
        if isinstance(count_or_reason, str):
            reason = count_or_reason or reason
        elif _counts_something(count_or_reason):
            return count_or_reason
    return reason


def _count(text: str, match: re.Match[str]) -> Count | str:
    group = "number" if match.group("number") else "adverb"
    start, end = match.span(group)
    value = value_of(match.group(group))
    if value is None:
        return ""
    following = WORD.match(text, end)
    word = following.group(1).lower() if following else ""
    if NOT_A_COUNT.match(text, end) or word in LARGE or word in VALUES:
        return f"'{text[start:end]}' is part of another number, not a plain count"
    count = Count(text, start, end, value, match.group(group).lower() in ADVERBS)
    return f"'{text[start:end]}' is a bound or an estimate, not a plain count" if _is_bound(count) else count


def _is_bound(count: Count) -> bool:
    """Return whether the sentence states a bound, so that another number may be true as well."""
    before = max(0, count.start - 20)
    if BOUND_BEFORE.search(count.text, before, count.start) or BOUND_BEHIND.match(count.text, count.end):
        return True
    hedge = HEDGE_BEFORE.search(count.text, before, count.start)
    if hedge is None:
        return False
    times = count.adverb or _times_after(count) is not None
    return _is_clause_start(count, hedge) or (times and hedge["of_times"] is not None)


def _counts_something(count: Count) -> bool:
    """Return whether a bare number counts: "two men", "three"; not "no one", "one another", "room 3", "once"."""
    if NAMES_BEFORE.search(count.text, max(0, count.start - 20), count.start):
        return False
    following = WORD.match(count.text, count.end)
    word = following.group(1).lower() if following else ""
    if re.search(r"\d\s+$", count.text[max(0, count.start - 8) : count.start]):
        return False
    if count.word.isdigit() and (word in CLOSED or not word or word.isdigit()):
        # "adult 1", "8 10 minutes"
        return False
    if any(match.start() < count.start < match.end() for match in HEDGED_TIME.finditer(count.text)):
        return False
    if OF_THEM.search(count.text) or not MASS.isdisjoint((word,)):
        return False
    divided = not word or word in CLOSED or word in PREPOSITIONS
    if divided and DIVIDED.search(count.text, max(0, count.start - 8), count.start):
        return False
    if any(match.start() < count.start < match.end() for match in FROM_TO.finditer(count.text)):
        return False
    if count.word[0].isupper() and not _is_clause_start(count):
        return False
    if count.adverb:
        # "once at home" is when.
        return (not word or word in PREPOSITIONS) and not _is_clause_start(count)
    if count.word.lower() == "one":
        if re.search(r"\b(?:only|just)\s+$", count.text[max(0, count.start - 8) : count.start], re.IGNORECASE):
            return False
        return bool(word) and word not in ONE_NAMES and word not in CLOSED and word not in PREPOSITIONS
    return True


def realise(count: Count, value: int, *, adverb: bool | None = None) -> list[Edit] | None:
    """Return the edits that make the caption state `value` (1..20); None if the sentence would become ungrammatical.

    `adverb`: once/twice (True) or "one time" (False) if both are possible; None keeps the caption's form.
    """
    if not _fits(count, value):
        return None
    digits = count.word.isdigit()
    times = _times_after(count)
    wants_adverb = (count.adverb if adverb is None else adverb) and not digits
    as_adverb = _adverb_of(value, count) if wants_adverb else None
    if count.adverb:
        unit = "time" if value == 1 else "times"
        phrase = as_adverb or f"{written_like(value, 'word')} {unit}"
        return [Edit(count.start, count.end, match_case(count.word, phrase))]
    if times and as_adverb:
        return [Edit(count.start, times[1], match_case(count.word, as_adverb))]
    number = Edit(count.start, count.end, written_like(value, count.word))
    if (count.value == 1) == (value == 1):
        return [number]
    crossing = _cross(count, to_one=value == 1)
    return None if crossing is None else sorted([number, *crossing])


def _fits(count: Count, value: int) -> bool:
    """Return whether so many are possible: one does not hug, two pose between, nobody raises three hands."""
    tokens = _noun_phrase(count)
    phrase = {token[2].lower() for token in tokens}
    if tokens and count.text[tokens[-1][1] :][:2] in ("'s", "’s", "' ", "’ "):
        return False
    if count.value > 1 and not count.adverb and tokens and not any(_is_plural(token[2]) for token in tokens):
        # "a two person bike"
        return False
    before = count.text[max(0, count.start - 12) : count.start]
    natural = not EXACT_BEFORE.search(before) and not count.adverb and _times_after(count) is None
    if not PAIRED.isdisjoint(phrase) and (value > 2 or (value == 1 and OWN_BEFORE.search(before))):
        return False
    if natural and value == 1 and re.search(r"\bwith\s+$", before, re.IGNORECASE):
        return False
    if natural and value > MOST_TIMES * count.value:
        return False
    if not phrase.isdisjoint(("team", "teams", "twin", "twins", "last", "final", "first")) or (
        value < MOST_TIMES and IN_A_ROW.search(before)
    ):
        return False
    if value > 1 or count.adverb or _times_after(count):
        return True
    if not phrase.isdisjoint(("different", "similar", "identical", "various", "matching")):
        return False
    subject = _is_clause_start(count) or THERE_BE.search(count.text, 0, count.start) is not None
    return not (
        SEVERAL_BEFORE.search(count.text, max(0, count.start - 30), count.start)
        or (
            (subject or natural)
            and RECIPROCAL.search(count.text if subject else re.split(r"[.;]", count.text[count.end :])[0])
        )
        or PLURALS_BEHIND.match(count.text, tokens[-1][1] if tokens else count.end)
    )


def _adverb_of(value: int, count: Count) -> str | None:
    if value == 3:
        return "thrice" if count.word.lower() == "thrice" else None
    return {1: "once", 2: "twice"}.get(value)


def _times_after(count: Count) -> Token | None:
    match = WORD.match(count.text, count.end)
    if match and match.group(1).lower() in ("time", "times"):
        return match.start(1), match.end(1), match.group(1)
    return None


def _cross(count: Count, *, to_one: bool) -> list[Edit] | None:
    """Return the other edits between one and several: the counted noun and, if it is the subject, its verb."""
    phrase = _noun_phrase(count)
    head = _last_of_first_plurals(phrase) if to_one else _last_noun(phrase, subject=_is_clause_start(count))
    if phrase and head is None:
        return None
    if _is_recipe_phrase([token[2].lower() for token in phrase], to_one=to_one):
        return None
    if len(phrase) > 1 and AND_BEFORE.search(count.text, 0, count.start) and can_be(phrase[-1][2], "VERB"):
        # "a man and exactly one woman dance": a compound noun or a verb; lists cannot distinguish them.
        return None
    edits = []
    if head:
        start, end, word = head
        # "fish", "sheep" have one form for both; an error such as "one times" stays as it is.
        if to_one and singular(word) in IRREGULAR_PLURALS:
            # "womens" is an error.
            return None
        new_form = singular(word) if to_one else (None if _is_plural(word) else plural(word))
        edits = [Edit(start, end, match_case(word, new_form))] if new_form else []
    if AND_BEFORE.search(count.text, 0, count.start) and _is_clause_start(count) and not _has_verb_before(count):
        # "a man and two women hold": both are the subject.
        return None
    if TAKEN_UP.search(count.text, count.end):
        return None
    agreement = _agree(count, head[1] if head else count.end, to_one=to_one)
    return None if agreement is None else [*agreement, *edits]


def _has_verb_before(count: Count) -> bool:
    words = re.findall(r"[a-z]+", re.split(r"[.;]", count.text[: count.start].lower())[-1])
    return any(word in BE_FORMS or (word.endswith("s") and plain_verb(word) is not None) for word in words)


def _is_recipe_phrase(words: list[str], *, to_one: bool) -> bool:
    """Return whether it is unclear which of several nouns is counted: "1 tsp cumin seeds", "one bowl beat egg"."""
    if to_one or not words:
        return False
    nouns = [word for word in words if can_be(word, "NOUN") and not can_be(word, "ADJ")]
    return words[-1] in MASS or (words[0] in UNITS and len(words) > 1) or (len(words) > 2 and len(nouns) > 1)


def _noun_phrase(count: Count) -> list[Token]:
    """Return the words from the number to the end of its noun phrase, by word lists and the lexicon."""
    phrase_tokens: list[Token] = []
    offset = count.end
    while match := WORD.match(count.text, offset):
        token = (match.start(1), match.end(1), match.group(1))
        word = token[2].lower()
        if word in PREPOSITIONS or word in CLOSED or (phrase_tokens and word in TRAILING and word != "more"):
            break
        if phrase_tokens and (word.endswith("ly") or not _may_continue(phrase_tokens[-1][2].lower(), word)):
            break
        phrase_tokens.append(token)
        offset = match.end()
        if word in ("time", "times") or len(phrase_tokens) == MAX_PHRASE_WORDS:
            break
    return phrase_tokens


def _may_continue(before: str, word: str) -> bool:
    lemmas_by_class = lemmas(word)
    if word.endswith("ing") and word not in lemmas_by_class.get("VERB", (word,)):
        return can_be(before, "ADJ")
    return not lemmas_by_class or "NOUN" in lemmas_by_class or "ADJ" in lemmas_by_class


def _last_of_first_plurals(phrase: list[Token]) -> Token | None:
    """Return the counted noun of a plural count: the first plural, or the last of several in a row ("sports cars")."""
    plurals = [index for index, token in enumerate(phrase) if _is_plural(token[2])]
    if not plurals:
        return None
    last = plurals[0]
    # "two glasses walks": the second word is a verb of somebody else.
    while last + 1 in plurals and not (last + 2 == len(phrase) and can_be(phrase[last + 1][2], "VERB")):
        last += 1
    return phrase[last]


def _last_noun(phrase: list[Token], *, subject: bool) -> Token | None:
    """Return the noun after one: the last noun, or unknown word, before a verb ("one man walks", "one hand waves")."""
    nouns: list[Token] = []
    for token in phrase:
        # "one upright rows" is an error, not a verb: an adjective is before it.
        verb_may_follow = nouns and (subject or not can_be(nouns[-1][2], "ADJ"))
        if nouns and token[2].lower() in BEHIND_NOUN:
            break
        if verb_may_follow and plain_verb(token[2]) is not None:
            break
        nouns.append(token)
    for token in reversed(nouns):
        if can_be(token[2], "NOUN") or not lemmas(token[2].lower()):
            return token
    return None


def _is_plural(word: str) -> bool:
    return singular(word) is not None or (can_be(word, "NOUN") and plural(word) == word.lower())


def _agree(count: Count, after: int, *, to_one: bool) -> list[Edit] | None:
    """Return the verb's edits if the counted thing is the subject; [] if it is not; None if unsure."""
    text = count.text
    there_be = THERE_BE.search(text, 0, count.start)
    if there_be:
        verb = there_be.group(1)
        new_form = third_person(verb) if to_one else plain_verb(verb)
        following_words = {word.lower() for word in re.findall(r"[A-Za-z]+", text[after:])}
        if new_form is None or following_words & (PRONOUNS | {"that", "who", "which"}):
            return None
        if new_form == verb.lower():
            return []
        return [Edit(there_be.start(1), there_be.end(1), match_case(verb, new_form))]
    if not _is_clause_start(count):
        return []
    following = WORD.match(text, after)
    while following and (following.group(1).lower() in TRAILING or following.group(1).endswith("ly")):
        following = WORD.match(text, following.end())
    if following is None:
        return []
    if {word.lower() for word in re.findall(r"[A-Za-z]+", text[after:])} & PRONOUNS:
        return None
    return _inflect_verb(text, following, to_one=to_one)


def _is_clause_start(count: Count, after: re.Match[str] | None = None) -> bool:
    """Return whether a clause begins with the count, or with the words before it."""
    start = count.start if after is None else after.start()
    words_before = re.findall(r"[A-Za-z'’]+|[.,;:!?]", count.text[max(0, start - 60) : start].lower())
    if words_before and words_before[-1] == "exactly":
        words_before.pop()
    return not words_before or words_before[-1] in OPENERS or words_before[-1] in set(".,;:!?")


def _inflect_verb(text: str, match: re.Match[str], *, to_one: bool) -> list[Edit] | None:
    start, end, word = match.start(1), match.end(1), match.group(1)
    lowered = word.lower()
    if AND_VERB.match(text[end:]) or lowered in UNCHANGED:
        return None
    if lowered.endswith(("ing", "ed")) and not re.search(r"\b(?:is|are|was|were|has|have)\b", text[end:]):
        return None if _has_later_verb(text[end:]) else []
    if to_one and lowered in MOMENTS:
        return None
    if to_one and lowered in ("are", "were", "have", "do"):
        return [Edit(start, end, match_case(word, third_person(lowered)))]
    if to_one and lemmas(lowered).get("VERB") == (lowered,):
        return [Edit(start, end, match_case(word, third_person(lowered)))]
    plain = None if to_one else plain_verb(lowered)
    return [Edit(start, end, match_case(word, plain))] if plain else None


def _has_later_verb(text: str) -> bool:
    """Return whether the verb of the subject may follow a description: "two men dressed in white laugh"."""
    words = re.findall(r"[a-z]+", re.split(r"[.;]", text.lower())[0])
    return any(
        word in lemmas(word).get("VERB", ()) or plain_verb(word) is not None
        for before, word in itertools.pairwise(words)
        if before not in BEFORE_NOUN
    )
