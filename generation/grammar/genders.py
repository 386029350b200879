"""Find the persons of a caption by gender, and why one of them has no good swap."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from generation.grammar.gender_words import (
    ADULTS,
    FEMALE,
    FEMALE_ATTRIBUTES,
    GENDER,
    MALE,
    MALE_ATTRIBUTES,
    NAME_WORDS,
    NAMES,
    NO_DRESS,
    OTHERS,
    PLURALS,
    PRONOUNS,
)

# "man's", "he's" and "she'll" are found, "man-made", "mandarin", "human" are not.
MENTION = re.compile(
    rf"(?<!\w)(?<![\w'’-])(?ai:{'|'.join(sorted({*GENDER, *OTHERS, *PRONOUNS}, key=len, reverse=True))})"
    r"(?=['’](?ai:s|ll|d)\b|['’](?!\w)|(?!\w|['’-]\w|[\u0300-\u036f\u200d\ufe0f]))"
)
# "a man first comes into view", "for the first time"
FIRST = re.compile(r"(?i)\bfirst (?:time\b|(?:appears|becomes|comes|enters|starts|begins|walks|runs|is|are)\b)")
REACH = 60
SINGULARS = {
    "men": "man",
    "women": "woman",
    "boys": "boy",
    "girls": "girl",
    "guys": "guy",
    "ladies": "lady",
}
# "no man", "not a single woman", "without any men"; "with no shirt the man" is about a shirt.
NEGATED = re.compile(
    r"(?i)\b(?:no|not an?|not any|without an?|without any|without|neither|nor)(?: (?!the\b|an?\b)\w+)? $"
)
SEVERAL_BEFORE = re.compile(
    r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|[1-9]\d|many|several|few|both|multiple|these|those) "
    r"(?:\w+ )?$"
)
ONE_BEFORE = re.compile(
    r"(?i)\b(?:an?|this|another|each|every) "
    r"(?:(?!(?:few|couple|lot|dozen|hundred|thousand|great|good|number|variety|pair|of|many)\b)\w+ )?$"
)
ONE_BEHIND = re.compile(r"(?i) (?:is|was|has) ")
SEVERAL_BEHIND = re.compile(r"(?i) (?:are|were|have) ")
# "a dress shirt", "women dress in black" and "to dress" name no dress.
NOT_VERB = "".join(rf"(?<!\b{word} )" for word in sorted({*PLURALS, "to", "they", "people", "children", "kids"}))
DRESS = rf"{NOT_VERB}dress(?:es)?(?! (?:{'|'.join(sorted(NO_DRESS))})\b)"
ATTRIBUTE = {
    MALE: re.compile(rf"(?i)\b(?:{'|'.join(sorted(MALE_ATTRIBUTES))})\b"),
    FEMALE: re.compile(rf"(?i)\b(?:{'|'.join(sorted(FEMALE_ATTRIBUTES))}|{DRESS})\b"),
}
OTHER_BEFORE = re.compile(r"(?i)\b(?:other|another) (?:\w+ )?$")
# "a man dances while a man stands": it would be "another man".
MEANWHILE = re.compile(r"(?i)\b(?:while|as|then) an? (?:\w+ )?$")
DEFINITE = re.compile(r"(?i)\bthe (?:\w+ )?$")
# Cheap: most captions have none of these words.
HINTS = {MALE: MALE_ATTRIBUTES, FEMALE: FEMALE_ATTRIBUTES | {"dress", "dresses"}}
# "the girl next to (her)", "a man in front of (him)"
BESIDE = re.compile(
    r"(?i) (?:\w+ing |who is |that is )?"
    r"(?:next to|beside|behind|near|in front of|with|by|across from|before|to the \w+ of|of) "
)
# "he is a (man)"; "her (bag)"
IS_ONE = re.compile(r"(?i)(?:['’]s| is| was) an? (?:\w+ )?")
OWNS = re.compile(r"(?i) (?!(?:is|are|was|has|and|while|as|who|then|\w+s|\w+ing)\b)\w+")
WORD = re.compile(r"[\w'’-]+")
JOINED = re.compile(r"(?i),? (?:and|or|&) (?:\w+ ){0,2}")


@dataclass(frozen=True)
class Mention:
    """Characters `start:end` mention a person of one gender, by a noun or a pronoun."""

    start: int
    end: int
    word: str
    gender: str


def mentions_in(text: str) -> list[Mention]:
    """Find the persons and pronouns of a caption, from left to right."""
    return [_mention(match) for match in MENTION.finditer(text)]


def _mention(match: re.Match[str]) -> Mention:
    word = match.group().lower()
    gender = GENDER.get(word) or OTHERS.get(word) or PRONOUNS[word]
    return Mention(match.start(), match.end(), word, gender)


def refusal(text: str, noun: Mention, mentions: Sequence[Mention]) -> str:
    """Return why the noun has no good swap, whatever its target; "" if there is no reason."""
    before = " ".join(text[max(0, noun.start - REACH) : noun.start].split(" "))
    if NEGATED.search(before):
        return f"'{noun.word}' is negated: the foil may be true, too"
    text_words = WORD.findall(text.lower())
    if _is_name(text, noun, text_words):
        return f"'{noun.word}' is part of a name or a fixed phrase"
    if _disagrees(text, noun, before):
        return f"the number of '{noun.word}' does not agree with its sentence; correct the caption"
    same = [
        mention
        for mention in mentions
        if mention.gender == noun.gender and mention.word not in PRONOUNS and mention != noun
    ]
    attribute = _attribute(text, noun.gender, text_words)
    if attribute:
        return f"'{attribute}' gives the gender of '{noun.word}' away"
    if sum(mention.word == noun.word for mention in mentions) > 1:
        return f"'{noun.word}' occurs more than once; it may be another person"
    if any(SINGULARS.get(mention.word, mention.word) == SINGULARS.get(noun.word, noun.word) for mention in same):
        return f"'{noun.word}' may be among the others of the caption"
    if FIRST.search(text):
        return "another person may do it for the first time"
    if why := _of_somebody_else(text, noun, mentions):
        return why
    if OTHER_BEFORE.search(before) or any(OTHER_BEFORE.search(text[: mention.start]) for mention in same):
        return f"“other” compares '{noun.word}' with another person of the same gender"
    return ""


def _of_somebody_else(text: str, noun: Mention, mentions: Sequence[Mention]) -> str:
    """Return whether a pronoun of the noun's gender is another person: before it, or in "the girl next to her"."""
    for mention in mentions:
        if mention.word not in PRONOUNS or mention.gender != noun.gender:
            continue
        beside = noun.end < mention.start and BESIDE.fullmatch(text[noun.end : mention.start])
        is_before = mention.start < noun.start and not IS_ONE.fullmatch(text[mention.end : noun.start])
        if is_before or (beside and mention.word in ("him", "her") and not OWNS.match(text[mention.end :])):
            return f"'{mention.word}' is somebody else than '{noun.word}'"
    return ""


def is_confused_with(text: str, noun: Mention, target: str, mentions: Sequence[Mention]) -> bool:
    """Return whether a swap of the noun would write "a woman and a woman", "men and guys", or twice "the man"."""
    # "a man is pushed by a man" would be another man, and "three girls and one girl" are four.
    if any(SINGULARS.get(mention.word, mention.word) == SINGULARS.get(target, target) for mention in mentions):
        return True
    alike = ADULTS if target in ADULTS else {target}
    similar_mentions = [
        mention
        for mention in mentions
        if mention.word in alike and mention.gender == GENDER[target] and mention != noun
    ]
    if DEFINITE.search(text[: noun.start]) and any(
        mention.word == target and DEFINITE.search(text[: mention.start]) for mention in similar_mentions
    ):
        return True
    spans = (sorted([(noun.start, noun.end), (mention.start, mention.end)]) for mention in similar_mentions)
    between = [" ".join(text[first[1] : second[0]].split(" ")) for first, second in spans]
    return any(JOINED.fullmatch(words) or MEANWHILE.search(words) for words in between)


def _is_name(text: str, noun: Mention, text_words: Collection[str]) -> bool:
    if NAME_WORDS.isdisjoint(text_words):
        return _is_capital(text, noun)
    near = NAMES.finditer(text, max(0, noun.start - REACH), noun.end + REACH)
    if any(match.start() <= noun.start < match.end() for match in near):
        return True
    return _is_capital(text, noun)


def _is_capital(text: str, noun: Mention) -> bool:
    """Return whether the noun is "Man" in "Iron Man", in a caption that is not in capitals or title case."""
    inside = noun.start > 0 and text[noun.start - 1] == " " and text[: noun.start].rstrip()[-1:] not in '.!?:"“'
    return inside and text[noun.start].isupper() and not _is_title(text)


def _is_title(text: str) -> bool:
    starts = [word[0] for word in text.split() if word[0].isalpha()]
    return 2 * sum(map(str.isupper, starts)) > len(starts)


def _disagrees(text: str, noun: Mention, before: str) -> bool:
    """Return whether the caption has "two woman", "a women" or "women is"; a swap would keep the mistake."""
    behind = text[noun.end : noun.end + 6]
    if behind[:2] in ("'s", "’s", "' ", "’ "):
        return False
    if noun.word in PLURALS:
        return bool(ONE_BEFORE.search(before) or ONE_BEHIND.match(behind))
    followed = SEVERAL_BEHIND.match(behind) and not re.search(r"(?i)\b(?:and|or|of)\b", before)
    return bool(SEVERAL_BEFORE.search(before) or followed)


def _attribute(text: str, gender: str, text_words: Collection[str]) -> str:
    if HINTS[gender].isdisjoint(text_words):
        return ""
    match = ATTRIBUTE[gender].search(text)
    return match.group().lower() if match else ""
