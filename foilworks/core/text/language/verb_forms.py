"""Inflect verbs ("cut" -> "cutting", "tear" -> "torn"), and find the forms that a word can be. Corrects lemminflect."""

import re
from functools import lru_cache

from foilworks.core.text.language.inflection import IRREGULAR_THIRD, lemmas, third_person
from foilworks.core.text.language.lexicon import inflections
from foilworks.core.text.language.numbers import match_case

# Penn tags: plain, third person singular, -ing, past, past participle.
TAGS = ("VB", "VBZ", "VBG", "VBD", "VBN")
# Errors of lemminflect's table, and forms that captions do not use.
MENDED = {
    ("lie", "VBD"): "lay",
    ("lie", "VBN"): "lain",
    ("be", "VBZ"): "is",
    ("be", "VBD"): "was",
    ("be", "VBN"): "been",
    ("hang", "VBD"): "hung",
    ("hang", "VBN"): "hung",
    ("shut", "VBD"): "shut",
    ("shut", "VBN"): "shut",
    ("light", "VBD"): "lit",
    ("light", "VBN"): "lit",
    ("wet", "VBD"): "wet",
    ("wet", "VBN"): "wet",
    ("dig", "VBD"): "dug",
    ("dig", "VBN"): "dug",
    ("dim", "VBG"): "dimming",
    ("dim", "VBD"): "dimmed",
    ("dim", "VBN"): "dimmed",
    ("ski", "VBG"): "skiing",
    ("ski", "VBN"): "skied",
    ("dye", "VBG"): "dyeing",
    ("dye", "VBN"): "dyed",
    ("mow", "VBN"): "mown",
    ("saw", "VBN"): "sawn",
    ("get", "VBN"): "got",
    ("fit", "VBD"): "fit",
    ("spin", "VBD"): "spun",
}
# Verbs with these prefixes inflect like the verb after the prefix, if the table lacks them.
PREFIXES = ("un", "re", "dis", "over")


@lru_cache(maxsize=20_000)
def verb_form(lemma: str, tag: str) -> str:
    """Inflect a base verb for a Penn tag: ("tear", "VBN") -> "torn"; particles stay: "put on" -> "putting on"."""
    verb, blank, particle = lemma.lower().partition(" ")
    if particle:
        return verb_form(verb, tag) + blank + particle
    if (verb, tag) in MENDED:
        return MENDED[verb, tag]
    if tag == "VB":
        return verb
    if tag == "VBZ":
        return third_person(verb)
    forms = inflections().getAllInflections(verb, upos="VERB").get(tag)
    if forms:
        return str(forms[0])
    for prefix in PREFIXES:
        if verb.startswith(prefix) and "VERB" in lemmas(verb.removeprefix(prefix)):
            return prefix + verb_form(verb.removeprefix(prefix), tag)
    return _regular(verb, tag)


def _regular(verb: str, tag: str) -> str:
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing" if tag == "VBG" else verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou" and tag != "VBG":
        return verb[:-1] + "ied"
    doubled = verb + verb[-1] if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb) else verb
    return doubled + ("ing" if tag == "VBG" else "ed")


@lru_cache(maxsize=20_000)
def verb_readings(word: str) -> tuple[tuple[str, str], ...]:
    """Return (lemma, tag) of each verb form that a word can be: "folds" -> (("fold", "VBZ"),); () if not a verb."""
    lowered = word.lower()
    lemmas_by_part = lemmas(lowered)
    candidates = [lemma for part_of_speech in ("VERB", "AUX") for lemma in lemmas_by_part.get(part_of_speech, ())]
    for prefix in PREFIXES:
        stem = lowered.removeprefix(prefix)
        if not candidates and stem != lowered and len(stem) > 2:
            candidates = [prefix + lemma for lemma in lemmas(stem).get("VERB", ())]
    readings = [(lemma, tag) for lemma in dict.fromkeys(candidates) for tag in TAGS if verb_form(lemma, tag) == lowered]
    if not readings and lowered not in IRREGULAR_THIRD and lowered.endswith(("t", "n", "d")):
        # A second past form: "burnt", "shaven".
        readings = [(lemma, tag) for lemma in dict.fromkeys(candidates) for tag in ("VBD", "VBN")]
    return tuple(readings)


def inflect_like(word: str, lemma: str, target: str, *, participle: bool = False) -> str | None:
    """Inflect `target` like `word`, a form of `lemma`: ("folded", "fold", "tear") -> "tore", or "torn" as a participle.

    Capitals are kept. None if `word` is not a form of `lemma`.
    """
    tags = [tag for reading, tag in verb_readings(word) if reading == lemma]
    if not tags:
        return None
    preferred_tags = ("VBN", *tags) if participle and "VBN" in tags else tags
    order = [tag for tag in preferred_tags if participle or tag != "VBN"] or preferred_tags
    return match_case(word, verb_form(target, order[0]))
