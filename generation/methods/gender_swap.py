"""Gender swap: "A woman is pushing her stroller" -> "A man is pushing his stroller".

As in (contrast sets, Secs. 3.1 and A.1, Table 6).

One gendered noun, and the pronouns of its gender, are replaced by a word of the table, drawn uniformly; swapping
all nouns would leave "man and woman walk" true. `paper` swaps any noun and every pronoun, and writes "his" for
each "her"; `corrected` distinguishes "his" and "him", and skips captions with an ambiguous pronoun, a negated noun, a
name, a noun in the wrong number, an attribute of one gender ("bearded"), and foils such as "a man and a man".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.appearance import BODY
from foilworks.core.text.language.inflection import can_be
from foilworks.core.text.language.living import gender_of_name
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger, tagger
from generation.grammar.gender_words import FEMALE, MALE, NEUTRAL, PLAIN, PLURALS, PRONOUNS, TABLE_6
from generation.grammar.genders import Mention, is_confused_with, mentions_in, refusal
from generation.grammar.surface import replace_phrase, word_set
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

# "hands her flowers": "her" may be the recipient or the owner.
TWO_OBJECTS = word_set("give hand offer show tell send bring throw teach feed pass buy ask serve lend pay read sell")
PERCEPTION = word_set("see watch hear let make help feel have")
# "keeps her warm", "paints her green": the next word may describe her, or a thing of hers.
RESULTING = word_set(
    "make keep leave get turn set call find consider render pull push paint dye color colour wash wipe"
)


# Not from the lexicon, which lists "head", "home" and "dress" as adjectives too.
RESULTS = word_set(
    "warm cool cold calm safe busy awake asleep alone alive dead free ready dry wet clean dirty tidy still quiet",
    "happy sad glad mad angry crazy jealous lonely nervous proud shy sick ill well sore drunk sober deaf bald fat slim",
    "young old stiff limp right wrong red orange yellow green blue purple violet pink brown black white grey gray",
    "blonde blond brunette upright plain flat bare naked nude",
)


# "sees her riding horses", "films her …": the next word may be her action, or a thing of hers.
WATCHING = PERCEPTION | word_set(
    "film catch find notice show photograph record leave keep stop observe spot follow spy"
)


# Adverbs in the lexicon that may also precede a noun.
BEFORE_THINGS = word_set("only second third fourth fifth sixth next last first")
VERSION = "6"
# With which the balanced draw can choose among all words.
BEFORE_DRAW = {"foils": 4}
THINGS = ("NOUN", "PROPN")
NAME = re.compile(r"\b[A-Z][a-z]+\b")
GENDER_OF_NAME = {"m": MALE, "f": FEMALE}
# Each noun is compared with all persons of the caption; keeps the time linear for captions of 10^6 characters.
MAX_NOUNS_TRIED = 12


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, with different words for one noun."""
    tags = tagger(params["tagger"])
    for caption in captions:
        mentions = mentions_in(caption.text)
        choices = [mention for mention in mentions if mention.word in TABLE_6]
        if not choices:
            yield Skip(caption.id, "it has no word of the table (man, woman, boy, girl, guy, lady and their plurals)")
            continue
        rng = generator_for(seed, "gender_swap", caption.id)
        rng.shuffle(choices)
        yield from _drafts(caption, choices[:MAX_NOUNS_TRIED], mentions, rng.random(), mode, tags, params["foils"])


def _drafts(
    caption: CaptionInput,
    choices: Sequence[Mention],
    mentions: Sequence[Mention],
    share: float,
    mode: str,
    tags: Tagger,
    n_foils: int,
) -> Iterator[FoilDraft | Skip]:
    """Yield the foils of the first choice that can be swapped, or why none can."""
    reason = ""
    for noun in choices:
        refused = refusal(caption.text, noun, mentions) if mode != "paper" else ""
        edits = refused or _pronouns(caption.text, noun, mentions, mode, tags)
        if isinstance(edits, str):
            reason = reason or edits
            continue
        targets = [word for word in TABLE_6[noun.word] if mode == "paper" or _fits(caption.text, noun, word, mentions)]
        if not targets:
            reason = reason or f"the foil would name '{TABLE_6[noun.word][0]}' twice"
            continue
        first = int(share * len(targets))
        for rank, target in enumerate([*targets[first:], *targets[:first]][:n_foils]):
            swap = _swap(caption.text, noun, target)
            facts = {"from": noun.word, "to": target, "pronouns": len(edits), "tagger": tags.name}
            yield draft_from_edits(caption, [*swap, *edits], method="gender_swap", mode=mode, rank=rank, facts=facts)
        return
    yield Skip(caption.id, reason)


def _fits(text: str, noun: Mention, target: str, mentions: Sequence[Mention]) -> bool:
    """Return whether the target makes the caption false and reads well: "guys" may be women, "little guy" no boy."""
    if target in NEUTRAL or (noun.word, target) == ("girl", "guy"):
        return False
    return not is_confused_with(text, noun, target, mentions)


def _swap(text: str, noun: Mention, target: str) -> list[Edit]:
    """Return the edits of the noun, with its genitive: "the women's team" -> "the guys' team"."""
    mark = text[noun.end : noun.end + 1]
    if mark not in ("'", "’"):
        return replace_phrase(text, noun.start, noun.end, target)
    long = text[noun.end + 1 : noun.end + 2].lower() == "s"
    to_short, to_long = long and target.endswith("s"), not long and not target.endswith("s")
    *before, new = replace_phrase(text, noun.start, noun.end, target)
    if to_short:
        return [*before, Edit(noun.start, noun.end + 2, new.target + mark)]
    return [*before, Edit(noun.start, noun.end + 1, f"{new.target}{mark}s")] if to_long else [*before, new]


def _pronouns(text: str, noun: Mention, mentions: Sequence[Mention], mode: str, tags: Tagger) -> list[Edit] | str:
    """Return the edits of the noun's pronouns, or why they are ambiguous."""
    pronouns = [mention for mention in mentions if mention.word in PRONOUNS and mention.gender == noun.gender]
    if mode != "paper":
        persons = [mention for mention in mentions if mention.word not in PRONOUNS and mention.gender == noun.gender]
        persons_named = [
            name for name in NAME.findall(text) if GENDER_OF_NAME.get(gender_of_name(name.lower())) == noun.gender
        ]
        if pronouns and (len(persons) > 1 or persons_named):
            return f"'{pronouns[0].word}' may belong to a second person of the same gender"
        if pronouns and noun.word in PLURALS:
            return f"'{pronouns[0].word}' is singular, '{noun.word}' is plural"
    tokens = tags.tag(text) if pronouns else ()
    token_index_at = {token.start: index for index, token in enumerate(tokens)}
    edits = []
    for pronoun in pronouns:
        opposite_pronoun = (
            _opposite_pronoun(tokens, token_index_at[pronoun.start], pronoun.word, mode)
            if pronoun.start in token_index_at
            else None
        )
        if opposite_pronoun is None:
            return "'her' may become his or him"
        as_object = "him" in (pronoun.word, opposite_pronoun) and pronoun.word in ("him", "her")
        if mode != "paper" and as_object and _is_of_another(tokens, noun, token_index_at[pronoun.start]):
            return f"'{pronoun.word}' is somebody else than '{noun.word}'"
        edits.append(Edit(pronoun.start, pronoun.end, match_case(text[pronoun.start : pronoun.end], opposite_pronoun)))
    return edits


def _is_of_another(tokens: Sequence[Token], noun: Mention, index: int) -> bool:
    """Return whether an object pronoun shares its verb's subject with the noun: "a man waves and thanks him"."""
    first = next((token.start for token in tokens if token.part in ("VERB", "AUX")), noun.start)
    verb = next((index_before for index_before in range(index - 1, -1, -1) if tokens[index_before].part == "VERB"), 0)
    between = (token for token in reversed(tokens[:verb]) if token.part not in ("AUX", "ADV", "PART"))
    # "then" is an adverb, and joins as "and" does.
    before = tokens[verb - 1] if verb and tokens[verb - 1].lower == "then" else next(between, None)
    return noun.start < first < tokens[verb].start and before is not None and before.lower in ("and", "or", ",", "then")


def _opposite_pronoun(tokens: Sequence[Token], index: int, word: str, mode: str) -> str | None:
    """Return the pronoun of the other gender for a token; None if it is ambiguous."""
    if word in PLAIN:
        return PLAIN[word]
    possessive = _is_possessive(tokens, index)
    if word == "his":
        return "hers" if possessive is False and not _is_before_determiner(tokens, index) else "her"
    if mode == "paper":
        return "his"
    return None if possessive is None else ("his" if possessive else "him")


def _is_before_determiner(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a determiner or pronoun follows, which is part of a name: "his mine craft world"."""
    return index + 1 < len(tokens) and tokens[index + 1].part in ("DET", "PRON")


def _is_possessive(tokens: Sequence[Token], index: int) -> bool | None:
    """Return whether a possession follows: True in "her red bag", False in "hugs her", None if both fit."""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    verb = next((token for token in reversed(tokens[:index]) if token.part == "VERB"), None)
    lemma = verb.lemma if verb is not None and tokens[index - 1] is verb else ""
    if after is None or after.part in ("PUNCT", "ADP", "CCONJ", "SCONJ", "DET", "PRON", "AUX", "PART"):
        return False
    if after.part == "NUM" and verb is not None and verb.lemma in TWO_OBJECTS:
        return None
    if tokens[index - 1].part == "ADP" and after.lower in BODY:
        # "a tattoo on her back"
        return True
    is_plural = is_plural_noun(after.text)
    if after.part != "VERB" and lemma in PERCEPTION and can_be(after.text, "VERB") and not is_plural:
        return None
    first = index + 1
    while first < len(tokens) and tokens[first].part == "ADV":
        first += 1
    head = tokens[first] if first < len(tokens) else None
    if head is None or head.lower == "own":
        return head is not None
    if _describes(head):
        return _of_described(tokens, first, lemma)
    if after.part in ("ADV", "VERB"):
        # "her recently adopted dog" or "met her, adopted dogs"; "her only child"; "follows her everywhere".
        past = head.tag == "VBD" and _is_noun_at(tokens, first + 1)
        return None if past else after.lower in BEFORE_THINGS and head.part in THINGS
    if lemma in TWO_OBJECTS and is_plural:
        return None
    # "leaves her crying", "keeps her warm": tagged as nouns, which may be wrong.
    gerund = can_be(after.text, "VERB") and not can_be(after.text, "NOUN") and not is_plural
    result = lemma in RESULTING and after.lower in RESULTS
    return None if after.part == "NOUN" and (gerund or result) and not _is_noun_at(tokens, first + 1) else True


def _describes(token: Token) -> bool:
    """Return whether the word describes; a word tagged as noun counts if the lexicon has it only as an adjective."""
    if token.part == "NOUN":
        return can_be(token.text, "ADJ") and not can_be(token.text, "NOUN")
    return token.part == "ADJ" or token.tag in ("VBN", "VBG")


def _of_described(tokens: Sequence[Token], first: int, lemma: str) -> bool | None:
    """Return the same if the word at `first` describes: True in "her long, wet hair", False in "makes her angry"."""
    index = first
    while index < len(tokens) and (_describes(tokens[index]) or tokens[index].part == "NUM" or _joins(tokens, index)):
        index += 1
    if not _is_noun_at(tokens, index):
        return False
    # "sees her riding horses", "follows her carrying bags"; "her crying baby".
    open_gerund = tokens[first].tag == "VBG" and (lemma in WATCHING or is_plural_noun(tokens[index].text))
    return None if open_gerund else True


def _joins(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].lower in (",", "and", "or") and index + 1 < len(tokens) and _describes(tokens[index + 1])


def _is_noun_at(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].part in THINGS
