"""Read the values that text-only models gave to the texts of a project; a job writes them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.analyses.analysis_inputs import ItemFacts, hard_part
from evaluation.analyses.preference import TextScores, preference
from evaluation.blind.models import BlindScorer
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Score
from foilworks.core.projects.models import Project

# The same key as a scoring run of a text-only model, so that each reuses the values of the other.
PROTOCOL = "foilworks"
NO_CLIP = ""
ROWS = 500


@dataclass(frozen=True)
class Known:
    """The stored values of the texts; the fingerprint covers model and values, "" if the model was never loaded."""

    scores: TextScores
    fingerprint: str


def scorers_of(project: Project) -> list[BlindScorer]:
    return list(BlindScorer.objects.filter(project=project).select_related("job"))


def texts_of(items: Sequence[ItemFacts]) -> list[str]:
    """Return every text that the audit reads once, in the order of the items."""
    return list(dict.fromkeys(text for item in hard_part(items) for text in (item.caption, *item.foils)))


def known_values(scorer: BlindScorer, items: Sequence[ItemFacts]) -> Known:
    """Return the stored values of the items' texts. One query per 500 texts."""
    if not scorer.model_key:
        return Known(TextScores({}), "")
    texts = {text_key(text): text for text in texts_of(items)}
    values: dict[str, float] = {}
    higher = True
    keys = sorted(texts)
    for start in range(0, len(keys), ROWS):
        rows = Score.objects.filter(
            model_key=scorer.model_key,
            protocol=PROTOCOL,
            clip_key=NO_CLIP,
            text_sha256__in=keys[start : start + ROWS],
        )
        for key, value, higher_is_better in rows.values_list("text_sha256", "value", "higher_is_better"):
            values[texts[key]], higher = value, higher_is_better
    text_reads = {texts[key]: (str(name), bool(cut)) for key, (name, cut) in scorer.at_limit.items() if key in texts}
    fingerprint_text = repr(
        (scorer.model_key, sorted(values.items()), *([sorted(text_reads.items())] if text_reads else []))
    )
    return Known(TextScores(values, higher, text_reads), hashlib.sha256(fingerprint_text.encode()).hexdigest())


def preferences_of(project: Project, items: Sequence[ItemFacts]) -> list[dict[str, Any]]:
    """Return one entry per scorer, by label: the scorer with `preference` (None if it was never loaded)."""
    preferences = []
    for scorer in scorers_of(project):
        stored_values = known_values(scorer, items)
        shares = preference(items, stored_values.scores) if stored_values.fingerprint else None
        preferences.append({"scorer": scorer, "found": shares})
    return preferences
