"""Drop foils with a verb that is rare in the train captions.

The paper keeps lemmas seen more than 30 times (contrast sets, Sec. A.3).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foilworks.core.text.language.tools import tagger
from foilworks.core.text.language.verb_forms import verb_readings
from generation.filters._changes import changes, replaced
from generation.records import CaptionInput, Verdict

VERSION = "2"
COSTLY = False

Counts = Mapping[str, int]


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any]) -> Counts:
    """Count each verb's lemma in the captions (the project's train split)."""
    tags = tagger(params["tagger"])
    return Counter(token.lemma for caption in captions for token in tags.tag(caption.text) if token.part == "VERB")


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any], state: Counts) -> Verdict:
    """Score a foil by the count of its rarest new verb; it passes above params["more_than"], or without a new verb."""
    del others
    text_changes = changes(caption.text, foil, tagger(params["tagger"]))
    verbs = [token.lemma for change in text_changes for token in change.after if token.part == "VERB"]
    # "claps" behind a noun may be tagged as a noun: what replaces a verb is one, if it can be.
    verbs += [
        readings[0][0]
        for old, new in replaced(text_changes)
        if old.part == "VERB" != new.part
        for readings in [verb_readings(new.lower)]
        if readings
    ]
    if not verbs:
        return Verdict(True, None, "no new verb")
    rarest = min(verbs, key=lambda lemma: (state.get(lemma, 0), lemma))
    count = state.get(rarest, 0)
    passed = count > params["more_than"]
    return Verdict(passed, float(count), "" if passed else f"'{rarest}' occurs {count} times in the train captions")
