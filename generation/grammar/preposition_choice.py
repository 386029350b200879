"""Choose replacements of a preposition that are false and natural: by its verb and its landmark.

"pouring water into a cup" has the verb "pour", the preposition "into" and the landmark "cup". The first row of
`preposition_rows.ROWS` that fits all three gives the replacements, and a caption that fits no row gets none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from foilworks.core.text.language.inflection import lemmas, plain_verb, singular
from foilworks.core.text.language.verb_forms import TAGS, verb_form, verb_readings
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.preposition_rows import LANDMARKS, OPPOSITES, OTHER, REFUSED, ROWS, VERBS
from generation.grammar.preposition_words import DETERMINERS, NO_OBJECT

MORE_DETERMINERS = DETERMINERS | {"some", "another", "other", "one", "two", "three", "both", "many", "several", "all"}
PRONOUNS = {"him": "man", "her": "woman", "me": "man", "us": "people", "them": "thing", "it": "thing"}
RECIPROCAL = ("each other", "one another")
# A landmark may continue behind these: "a group of people", "a pile of books".
COLLECTIONS = frozenset({"group", "crowd", "couple", "bunch", "pair", "line", "lot", "piece", "number"})
# Behind these the preposition continues a particle: "carries a boy off in a car".
ADVERBS = word_set(
    "out off up down along over around in on by through",
)
# "a clip taken from a film".
EXCERPTS = word_set(
    "clip clips scene scenes video videos footage excerpt trailer picture photo photograph image images still shot",
    "view",
)
# British spellings, which the table of forms lacks.
MORE_FORMS = {"travelling": "travel", "travelled": "travel", "modelling": "model", "paddling": "paddle"}
# What follows from where a thing is put: "on a ramp so it slides down".
OUTCOMES = frozenset({"so", "but", "without", "until"})
PUT_ON = frozenset({"on", "onto"})
# Without a verb before them, the verb behind the landmark decides.
STATIC = frozenset({"in", "on", "inside"})
# A word that may be a noun is a verb behind these, and behind plural nouns.
BEFORE_VERB = word_set(
    "to and or who they we you people men women children then that let not",
)
# Forms that are mostly other words in captions.
NOT_VERBS = frozenset({"left", "saw", "set", "rings", "rose", "ground", "being", "rocks", "slides"})
ENDS = NO_OBJECT | word_set(
    "near beside between against inside outside above below underneath beneath among past off together there here",
    "very then until before after during each it them him he she they",
)


@dataclass(frozen=True)
class Row:
    """One row: it fits if a verb and a landmark of the sets are there, and none of the excluded."""

    verbs: frozenset[str]
    no_verbs: frozenset[str]
    landmarks: frozenset[str]
    no_landmarks: frozenset[str]
    targets: tuple[str, ...]

    def fits(self, verb: frozenset[str], landmark: frozenset[str]) -> bool:
        return (
            (not self.verbs or not self.verbs.isdisjoint(verb))
            and self.no_verbs.isdisjoint(verb)
            and (not self.landmarks or not self.landmarks.isdisjoint(landmark))
            and self.no_landmarks.isdisjoint(landmark)
        )


def choices(phrase: str, before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return the replacements of `phrase`, exact opposites first; () if none is surely false and natural.

    `before`, `after`: the lower-case words of the clause before and after it.
    """
    rows = _rows().get(phrase)
    if not rows:
        return ()
    landmark = _landmark(after)
    if not landmark:
        return ()
    if (before and before[-1] in ADVERBS) or (phrase == "from" and not EXCERPTS.isdisjoint(before)):
        return ()
    verb = _verb(before)
    if phrase in PUT_ON and "put" in verb and not OUTCOMES.isdisjoint(after):
        return ()
    if phrase in STATIC and not verb.isdisjoint(("none", "be")):
        verb |= _next_verb(after)
    targets = next((row.targets for row in rows if row.fits(verb, landmark)), ())
    opposite = OPPOSITES.get(phrase, ())
    return tuple(sorted(targets, key=lambda target: target not in opposite))


@cache
def _rows() -> dict[str, tuple[Row, ...]]:
    rows_by_phrase: dict[str, list[Row]] = {}
    for phrases, verbs, landmarks, targets in ROWS:
        for phrase in phrases.split(", "):
            phrase_targets = (
                OPPOSITES[phrase] if targets == OTHER else tuple(target for target in targets.split(", ") if target)
            )
            rows_by_phrase.setdefault(phrase, []).append(Row(*_signs(verbs), *_signs(landmarks), phrase_targets))
    return {phrase: tuple(rows) for phrase, rows in rows_by_phrase.items()}


def _signs(words: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words, and those after a minus: "move -swim"."""
    listed = words.split()
    return frozenset(word for word in listed if word[0] != "-"), frozenset(
        word[1:] for word in listed if word[0] == "-"
    )


@cache
def _forms() -> dict[str, str]:
    """Return form -> lemma of the verbs that captions use with prepositions."""
    verb_lemmas = {lemma for listed in VERBS.values() for lemma in listed.split()}
    forms = {verb_form(lemma, tag): lemma for lemma in sorted(verb_lemmas) for tag in TAGS}
    forms |= MORE_FORMS
    forms |= dict.fromkeys(("is", "are", "was", "were"), "be")
    return {form: lemma for form, lemma in forms.items() if form not in NOT_VERBS}


@cache
def _classes_of_verbs() -> dict[str, frozenset[str]]:
    return _inverted(VERBS.items())


@cache
def _classes_of_landmarks() -> dict[str, frozenset[str]]:
    return _inverted(LANDMARKS.items())


def _inverted(table: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    names_by_word: dict[str, set[str]] = {}
    for name, words in table:
        for word in words.split():
            names_by_word.setdefault(word, set()).add(name)
    return {word: frozenset({word, *names}) for word, names in names_by_word.items()}


def _verb(before: Sequence[str]) -> frozenset[str]:
    """Return the lemma and the classes of the last verb of the clause; of "be" only if there is no other."""
    auxiliary = ""
    for index in range(len(before) - 1, -1, -1):
        word = before[index]
        lemma = _lemma_of_verb(word)
        if not lemma or (index and not _may_follow(word, lemma, before[index - 1])):
            continue
        if lemma == "be":
            auxiliary = auxiliary or lemma
            continue
        return _classes_of_verbs().get(lemma, frozenset({lemma}))
    return _classes_of_verbs()["be"] if auxiliary else frozenset({"none"})


def _next_verb(after: Sequence[str]) -> frozenset[str]:
    """Return the verb after the landmark: "a man in a car driving down a road"."""
    lemma = next(
        (lemma for index, word in enumerate(after) if index and (lemma := _lemma_of_verb(word)) not in ("", "be")), ""
    )
    classes = _classes_of_verbs().get(lemma, frozenset())
    return classes if "steer" in classes or lemma in ("swim", "dive", "float", "surf") else frozenset()


def _may_follow(word: str, lemma: str, last: str) -> bool:
    """Return whether a word that may be a noun is a verb behind `last`: not in "a walk", "an online store"."""
    if _is_gerund(word):
        return True
    if last in MORE_DETERMINERS:
        return False
    if word != lemma or "NOUN" not in lemmas(word):
        return True
    return last in BEFORE_VERB or singular(last) is not None


@lru_cache(maxsize=20_000)
def _lemma_of_verb(word: str) -> str:
    """Return the lemma of a word that captions use as a verb: one of the lists, or one that cannot be a noun."""
    lemma = _forms().get(word)
    if lemma:
        return lemma
    if word in NOT_VERBS:
        return ""
    readings = verb_readings(word)
    if not readings or (not _is_gerund(word) and lemmas(word).keys() & {"NOUN", "ADJ", "ADV"}):
        return ""
    return readings[0][0]


def _landmark(after: Sequence[str]) -> frozenset[str]:
    """Return the head noun of the phrase after the preposition and its classes; empty if it has none.

    "bare" is among them without an article.
    """
    if " ".join(after[:2]) in RECIPROCAL:
        return frozenset({"reciprocal"})
    head, bare = _head(after)
    if not head:
        return frozenset()
    head_classes = _classes_of_landmarks().get(head) or _classes_of_landmarks().get(singular(head) or "")
    classes = head_classes or frozenset({head})
    if not REFUSED & classes:
        classes |= {"thing"}
    return classes | {"bare", f"bare:{head}"} if bare else classes


@lru_cache(maxsize=20_000)
def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and any(tag == "VBG" for _, tag in verb_readings(word))


def head_noun(after: Sequence[str]) -> str:
    """Return the head noun of the phrase that the words begin with, or ""."""
    return _head(after)[0]


def _head(after: Sequence[str]) -> tuple[str, bool]:
    """Return the head noun, and whether the phrase has no article."""
    opened = bool(after) and after[0] in MORE_DETERMINERS
    first = after[0] if after else ""
    if first in PRONOUNS and (len(after) == 1 or after[1] in ENDS or _lemma_of_verb(after[1])):
        return PRONOUNS[first], False
    if opened:
        first_noun = 1
        while first_noun < len(after) and after[first_noun] in MORE_DETERMINERS:
            first_noun += 1
    else:
        first_noun = 0
    head = ""
    for index in range(first_noun, len(after)):
        word = after[index]
        if word == "of" and head in COLLECTIONS and index + 1 < len(after):
            inner, _ = _head(after[index + 1 :])
            return inner or head, not opened
        if word == "of" and head in ("top", "bottom", "front", "back", "middle", "center", "side", "inside"):
            return "", False
        if word == "can" and index and after[index - 1] in MORE_DETERMINERS:
            return word, False
        if not word[0].isalpha() or word in ENDS or word in MORE_DETERMINERS or (head and _ends_phrase(word, head)):
            break
        head = word
    return head, not opened


@lru_cache(maxsize=20_000)
def _ends_phrase(word: str, head: str) -> bool:
    """Return whether the word after a noun belongs to the next part: a verb, an adverb."""
    if _is_landmark(word):
        return False
    if len(word) > 4 and word.endswith(("ing", "ly", "ed")):
        return True
    word_classes = lemmas(word).keys()
    if word_classes and "NOUN" not in word_classes:
        return True
    # "in the room chops": a noun that we know, then a word that can be a verb of it.
    return _is_landmark(head) and (plain_verb(word) is not None or bool(_forms().get(word)))


def _is_landmark(word: str) -> bool:
    table = _classes_of_landmarks()
    return word in table or (singular(word) or "") in table
