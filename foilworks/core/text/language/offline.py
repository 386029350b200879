"""A tagger without downloads: rules for captions over a lexicon of parts of speech.

General taggers often tag the verbs of captions as nouns ("a man folds", "a woman drives"). Here a word that can be both
is decided by its position: after an article it is a noun, after a subject that it agrees with it is a verb.
"""

from dataclasses import dataclass

from foilworks.core.text.language._tag_lists import (
    ADVERBS,
    AUXILIARIES,
    BE,
    BEFORE_INFINITIVE,
    BEFORE_PLAIN_VERB,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE_DO,
    IMPERATIVES,
    NEVER_VERB,
    NUMERAL_WORDS,
    PLURAL_PRONOUNS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RESULTATIVE,
    SUBORDINATORS,
)
from foilworks.core.text.language.inflection import lemmas, singular
from foilworks.core.text.language.main_verb import as_main_verb
from foilworks.core.text.language.numbers import VALUES, value_of
from foilworks.core.text.language.tokens import Token, pieces
from foilworks.core.text.language.verb_forms import verb_readings

NOMINAL = ("NOUN", "PROPN")
# "'s" behind them is a verb: "she's gone".
BEHIND_VERB = frozenset({"it", "them", "him", "down", "up", "off", "over", "out", "away"})
SUBJECT_WORDS = frozenset({"he", "she", "it", "that", "there", "who", "what", "here", "where"})
# A word of letters that is not here is of an open class.
CLOSED = frozenset[str]().union(
    *(POSSESSIVES, PRONOUNS, DETERMINERS, NUMERAL_WORDS, AUXILIARIES, CONJUNCTIONS, ADVERBS, SUBORDINATORS),
    *(PREPOSITIONS, VALUES, ("to", "not", "that", "other", "as", "like")),
)
# They do not change the state of the clause.
UNCHANGING = frozenset({"DET", "ADJ", "ADP", "ADV", "PART", "NUM", "CCONJ"})
OPENS_NOUN = ("DET", "ADJ", "NUM")
BEFORE_NOUN = frozenset({*OPENS_NOUN, "NOUN"})


@dataclass(slots=True)
class _Clause:
    """The clause so far: its subject's number, and its verb."""

    subject: str = ""  # "", "singular", "plural"
    finite: bool = False
    verb_tag: str = ""
    verb_lemma: str = ""
    object_seen: bool = False


class OfflineTagger:
    """A tagger of single captions, in time linear in their length."""

    name = "offline rules"

    def tag(self, text: str) -> tuple[Token, ...]:
        """Return one token per word, genitive or mark; offsets are Python string offsets."""
        spans = pieces(text)
        words = [word.lower().replace("’", "'") for _, _, word in spans]
        tokens: list[Token] = []
        clause, before = _Clause(), -1
        for at, (start, end, word) in enumerate(spans):
            part_of_speech, lemma, tag = _read(words, at, tokens, clause, capital=word[:1].isupper())
            tokens.append(Token(start, end, word, part_of_speech, lemma, tag))
            if part_of_speech not in UNCHANGING:
                clause = _after(tokens, clause, before)
            if part_of_speech not in BEFORE_NOUN and tokens[-1].lower not in POSSESSIVES:
                before = at
        as_main_verb(tokens)
        return tuple(tokens)


def _after(tokens: list[Token], clause: _Clause, before: int) -> _Clause:
    """Return the state of the clause after the newest token; `before`: the place of what comes before its phrase."""
    new = tokens[-1]
    if new.part == "SCONJ" or new.text in ".;:!?" or (new.part == "PRON" and new.lower in ("who", "which")):
        keep = clause.subject if new.part == "PRON" else ""
        return _Clause(subject=keep)
    if new.part == "VERB":
        clause.verb_tag, clause.verb_lemma, clause.object_seen = new.tag, new.lemma, False
        clause.finite = clause.finite or new.tag in ("VB", "VBZ", "VBD")
    elif new.part == "AUX":
        clause.finite = True
    elif new.part in NOMINAL or (new.part == "PRON" and new.lower not in POSSESSIVES):
        clause.object_seen = bool(clause.verb_tag)
        if not clause.verb_tag and not clause.finite:
            clause.subject = _number(tokens, clause, before)
    return clause


def _number(tokens: list[Token], clause: _Clause, before: int) -> str:
    """Return the number of the subject ending with the newest token; a noun after a preposition does not change it."""
    new = tokens[-1]
    if clause.subject and before >= 0 and tokens[before].part == "ADP":
        return clause.subject
    if clause.subject and before >= 0 and tokens[before].lower == "and":
        return "plural"
    if new.part == "PRON":
        return "plural" if new.lower in PLURAL_PRONOUNS else "singular"
    return "plural" if _is_plural(new.lower) else "singular"


def _is_plural(word: str) -> bool:
    return word in ("people", "police") or singular(word) is not None


def _read(words: list[str], at: int, tokens: list[Token], clause: _Clause, *, capital: bool) -> tuple[str, str, str]:
    word = words[at]
    closed = _closed(words, at, tokens, clause)
    if closed:
        return closed, word, ""
    readings = verb_readings(word)
    lemmas_by_part = lemmas(word)
    may_name = "NOUN" in lemmas_by_part or not lemmas_by_part
    if word.endswith("ing") and len(word) > 4 and not readings and not lemmas_by_part:
        readings = ((word[:-3], "VBG"),)
    verb = _verb(words, at, tokens, clause, readings) if readings else None
    if verb:
        return "VERB", verb[0], verb[1]
    if capital and at and tokens[-1].text not in '.!?:"“' and (not lemmas_by_part or "ADJ" not in lemmas_by_part):
        return "PROPN", word, ""
    if capital and not at and lemmas_by_part and not lemmas_by_part.keys() & {"NOUN", "ADJ", "ADV"}:
        return "PROPN", word, ""
    return (
        _nominal(words, at, tokens, lemmas_by_part, may_name=may_name),
        lemmas_by_part.get("NOUN", (singular(word) or word,))[0],
        "",
    )


def _closed(words: list[str], at: int, tokens: list[Token], clause: _Clause) -> str:
    """Return the part of speech of a word of a closed class, or ""."""
    word = words[at]
    if word not in CLOSED and word.isalpha():
        return ""
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if len(word) == 1 and not word.isalnum():
        return "PUNCT"
    if word == "'s" and before in SUBJECT_WORDS:
        return "AUX"
    if word in ("'s", "not", "n't"):
        return "PART"
    if word == "to":
        return "PART" if _is_infinitive(words, at, tokens) else "ADP"
    if word == "that":
        return "DET" if _may_be_noun(after) and before not in NEVER_VERB else "PRON"
    if word == "other" and _may_be_noun(after):
        return "ADJ"
    if word in POSSESSIVES or word in PRONOUNS:
        return "PRON"
    if word in DETERMINERS:
        return "DET"
    if value_of(word) is not None and word not in ("once", "twice", "thrice"):
        return "NUM"
    if word in NUMERAL_WORDS and before in ("a", "one", "two"):
        return "NUM"
    if word in AUXILIARIES:
        return _auxiliary(word, before, after, tokens)
    if word in CONJUNCTIONS:
        return "CCONJ"
    if word == "as" and (before == "as" or after in ("far", "well", "long", "fast", "soon")):
        return "ADV" if before != "as" and after != "if" and not (at and tokens[-1].part == "ADV") else "SCONJ"
    if word in ADVERBS and not (word == "next" and before in DETERMINERS) and word != "as":
        return "ADJ" if word == "fast" and tokens and tokens[-1].part == "DET" else "ADV"
    if word in SUBORDINATORS:
        return "SCONJ"
    if word == "like" and tokens and (tokens[-1].part in NOMINAL and not clause.finite and not clause.verb_tag):
        return ""
    if word in ("past", "round", "inside", "outside", "down") and tokens and tokens[-1].part == "DET":
        return ""
    return "ADP" if word in PREPOSITIONS else ""


def _is_infinitive(words: list[str], at: int, tokens: list[Token]) -> bool:
    """Return whether a verb follows "to": "tries to fix", not "to school", "to two men"."""
    if at + 1 >= len(words):
        return False
    after, second_after = words[at + 1], words[at + 2] if at + 2 < len(words) else ""
    is_plain_form = after in ("be", "have", "do") or any(tag == "VB" for _, tag in verb_readings(after))
    if not is_plain_form or after in DETERMINERS or after in POSSESSIVES or after in PREPOSITIONS:
        return False
    if tokens and (tokens[-1].lemma in BEFORE_INFINITIVE or tokens[-1].lower in BEFORE_INFINITIVE):
        return (
            "NOUN" not in lemmas(after) or second_after not in ("", ".", "and") or tokens[-1].lemma not in ("go", "get")
        )
    if "NOUN" not in lemmas(after) and "ADJ" not in lemmas(after):
        return True
    return (
        second_after in DETERMINERS or second_after in POSSESSIVES or second_after in ("it", "them", "him", "up", "off")
    )


def _auxiliary(word: str, before: str, after: str, tokens: list[Token]) -> str:
    """Tag "has" and "do" as verbs before a noun phrase: "has a ball", "does push-ups"; "can" may be a thing."""
    if word in ("can", "will", "might", "may", "must") and tokens and tokens[-1].part in (*OPENS_NOUN, "ADP"):
        return ""
    if word in HAVE_DO and word not in ("did", "had", "have") and after not in ("not", "been", "n't"):
        participle = any(tag in ("VBN", "VBD") for _, tag in verb_readings(after)) and after not in NEVER_VERB
        return "AUX" if participle and word == "has" else ""
    return "AUX"


def _verb(
    words: list[str], at: int, tokens: list[Token], clause: _Clause, readings: tuple[tuple[str, str], ...]
) -> tuple[str, str] | None:
    """Return (lemma, tag) if the word is a verb at its position, else None."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    last = tokens[-1] if tokens else None
    adverbless = next((token for token in reversed(tokens) if token.part not in ("ADV", "PART")), None)
    by_tag = {tag: (lemma, tag) for lemma, tag in reversed(readings)}
    nominal = "NOUN" in lemmas(word) or not lemmas(word)
    if last is not None and last.part == "PART" and last.lower == "to":
        return by_tag.get("VB")
    if "VBG" in by_tag:
        return by_tag["VBG"] if _is_gerund(words, at, tokens, clause) else None
    if last is not None and (last.part in OPENS_NOUN or _is_genitive(last) or _is_possessive(last, words, at)):
        return by_tag.get("VBN") if _leads_noun(words, at, by_tag) else None
    if word in NEVER_VERB:
        # "A woman waters the plants", "he boats": only what agrees with a subject right before it.
        return None
    if last is None or last.text in ".;:!?":
        return by_tag.get("VB") if _is_imperative(word, after, nominal=nominal) else None
    if adverbless is not None and adverbless.part == "AUX":
        return _behind_auxiliary(adverbless, by_tag, word)
    if clause.verb_lemma in BEFORE_PLAIN_VERB and clause.object_seen and "VB" in by_tag and last.part != "ADP":
        pronoun = last.part == "PRON"
        return by_tag["VB"] if pronoun or not nominal else None
    if last.lower in ("and", "or", ",", "then", "but"):
        return _coordinated(words, at, tokens, clause, by_tag, nominal=nominal)
    if last.part == "ADP":
        return None if nominal or "ADJ" in lemmas(word) else by_tag.get("VBN")
    return _behind_subject(words, at, tokens, clause, by_tag, nominal=nominal)


def _is_genitive(token: Token) -> bool:
    return token.part == "PART" and token.lower in ("'s", "’s")


def _is_possessive(last: Token, words: list[str], at: int) -> bool:
    if last.lower not in POSSESSIVES:
        return False
    return last.lower != "her" or not any(word in BEFORE_PLAIN_VERB for word in words[max(0, at - 3) : at])


def _is_gerund(words: list[str], at: int, tokens: list[Token], clause: _Clause) -> bool:
    """Return whether a word in -ing is a verb; not in "a cutting board", "the painting"."""
    if not tokens:
        return True
    last, word = tokens[-1], words[at]
    if word in NEVER_VERB:
        return False
    after = words[at + 1] if at + 1 < len(words) else ""
    if last.part in ("DET", "NUM") or last.lower in POSSESSIVES or _is_genitive(last):
        # "a passing car" is a participle, "a painting" a thing.
        return "NOUN" not in lemmas(word) and _may_be_noun(after)
    if last.part == "ADJ":
        return "NOUN" not in lemmas(word) and not _may_be_noun(after)
    ends = after in ("", ".", ",")
    return not (last.part in NOMINAL and "NOUN" in lemmas(word) and clause.verb_tag and ends)


def _leads_noun(words: list[str], at: int, by_tag: dict[str, tuple[str, str]]) -> bool:
    """Return whether a participle modifies a noun: "the torn paper", "a boiled egg"."""
    after = words[at + 1] if at + 1 < len(words) else ""
    lemmas_by_part = lemmas(words[at])
    return "VBN" in by_tag and "NOUN" not in lemmas_by_part and "ADJ" not in lemmas_by_part and _may_be_noun(after)


def _may_be_noun(word: str) -> bool:
    if not word or not word[0].isalnum() or word in PREPOSITIONS or word in DETERMINERS or word in AUXILIARIES:
        return False
    if word in ADVERBS or word in CONJUNCTIONS or word in PRONOUNS or word in POSSESSIVES or word in SUBORDINATORS:
        return False
    lemmas_by_part = lemmas(word)
    return not lemmas_by_part or "NOUN" in lemmas_by_part or "ADJ" in lemmas_by_part


def _is_imperative(word: str, after: str, *, nominal: bool) -> bool:
    if after in DETERMINERS or after in POSSESSIVES or after in ("it", "them", "him"):
        return True
    if after in ("away", "forward", "back", "backwards", "upstairs", "downstairs", "together"):
        return word not in NEVER_VERB
    if word in IMPERATIVES:
        return after not in BE and after not in ("and", ",", "")
    # "Harry hits Ron": the word before a verb names the actor.
    return not nominal and not any(tag == "VBZ" for _, tag in verb_readings(after))


def _behind_auxiliary(auxiliary: Token, by_tag: dict[str, tuple[str, str]], word: str) -> tuple[str, str] | None:
    lemmas_by_part = lemmas(word)
    if auxiliary.lower in ("do", "does", "did"):
        return by_tag.get("VB")
    if auxiliary.lower in BE or auxiliary.lower in HAVE_DO or auxiliary.lower in ("'s", "’s"):
        if "VBN" in by_tag and ("ADJ" not in lemmas_by_part or word.endswith("ed")):
            return by_tag["VBN"]
        return None
    return by_tag.get("VB")


def _coordinated(
    words: list[str],
    at: int,
    tokens: list[Token],
    clause: _Clause,
    by_tag: dict[str, tuple[str, str]],
    *,
    nominal: bool,
) -> tuple[str, str] | None:
    """Tag a word after "and" as a verb if it has the form of the clause's verb; "salt and pepper" are nouns."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if (
        nominal
        and after in ("", ".")
        and _is_plural(words[at])
        and tokens[-2].part == "NOUN"
        and _is_plural(words[at - 2])
    ):
        # "in uniforms and caps"
        return None
    same_tag = {"VBZ": "VBZ", "VBD": "VBD", "VB": "VB", "VBN": "VBN"}.get(clause.verb_tag, "")
    if same_tag in by_tag and (clause.object_seen or tokens[-2].part in ("VERB", "ADP", "ADV", "PRON")):
        goes_on = after in DETERMINERS or after in POSSESSIVES or after in BEHIND_VERB
        if not nominal or same_tag != "VB" or goes_on:
            return by_tag[same_tag]
        return by_tag[same_tag] if words[at] in IMPERATIVES and _may_be_noun(after) else None
    if not clause.verb_tag and clause.finite:
        return by_tag.get("VBZ")
    return None if nominal else next(iter(by_tag.values()))


def _behind_subject(
    words: list[str],
    at: int,
    tokens: list[Token],
    clause: _Clause,
    by_tag: dict[str, tuple[str, str]],
    *,
    nominal: bool,
) -> tuple[str, str] | None:
    """Tag a word after a noun, pronoun or adverb: the clause's verb if it agrees, else a participle."""
    last = tokens[-1]
    after = words[at + 1] if at + 1 < len(words) else ""
    if clause.subject and not clause.finite:
        if clause.subject == "singular" and "VBZ" in by_tag:
            return by_tag["VBZ"]
        # "A group of people dance": captions agree with the nearer noun as often as with the first.
        plural = clause.subject == "plural" or (last.part == "NOUN" and _is_plural(last.lower))
        if plural and "VB" in by_tag and last.part in (*NOMINAL, "PRON", "ADV"):
            return by_tag["VB"]
        if "VBD" in by_tag and "NOUN" not in lemmas(words[at]):
            participle = "VBN" in by_tag and (after in ("in", "by", "with", "on", "as") or clause.verb_tag)
            return by_tag["VBN"] if participle else by_tag["VBD"]
        if last.part == "ADV" and "VBZ" in by_tag:
            return by_tag["VBZ"]
    if last.part in NOMINAL and "VBN" in by_tag and not nominal:
        return by_tag["VBN"]
    if nominal or "ADJ" in lemmas(words[at]):
        return None
    return next(iter(by_tag.values()))


def _nominal(
    words: list[str], at: int, tokens: list[Token], lemmas_by_part: dict[str, tuple[str, ...]], *, may_name: bool
) -> str:
    """Return noun, adjective or adverb for a word that is not a verb."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word.endswith("ly") and ("ADV" in lemmas_by_part or not lemmas_by_part):
        return "ADV"
    if word in ("top", "overall") and tokens and tokens[-1].part in (*NOMINAL, "ADJ"):
        # The lexicon has no noun "top": "a tank top".
        return "NOUN"
    opened = bool(tokens) and (tokens[-1].part == "DET" or tokens[-1].lower in POSSESSIVES)
    if (
        opened
        and "ADJ" in lemmas_by_part
        and (not after[:1].isalnum() or after in PREPOSITIONS or after in AUXILIARIES or after in CONJUNCTIONS)
    ):
        # "the remote", "a blonde": no noun follows the article.
        return "NOUN"
    if "ADJ" in lemmas_by_part and (_heads_noun(after) or not may_name):
        return "ADJ"
    if (
        "ADJ" in lemmas_by_part
        and "NOUN" in lemmas_by_part
        and tokens
        and tokens[-1].part in NOMINAL
        and not _is_plural(word)
    ):
        # "paints the wall white", but "rolls up a yoga mat".
        return "ADJ" if any(token.lemma in RESULTATIVE for token in tokens[-8:]) else "NOUN"
    if "ADJ" in lemmas_by_part and tokens and tokens[-1].part == "AUX":
        return "ADJ"
    if "ADV" in lemmas_by_part and not may_name:
        return "ADV"
    if tokens and (tokens[-1].part in OPENS_NOUN or tokens[-1].lower in POSSESSIVES) and "ADJ" not in lemmas_by_part:
        return "NOUN"
    if not may_name:
        return "ADJ" if "ADJ" in lemmas_by_part else "NOUN" if "VERB" in lemmas_by_part else "X"
    return "NOUN"


def _heads_noun(word: str) -> bool:
    """Return whether a noun may come next, which the word would describe."""
    return _may_be_noun(word) and not any(tag in ("VBZ", "VBG") for _, tag in verb_readings(word))
