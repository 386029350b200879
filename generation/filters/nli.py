"""Drop a foil that its caption entails: premise caption, hypothesis foil, as a pair (ViLMA, Secs. 3.3 and C.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import CLASSIFIER
from foilworks.core.hub.interfaces import PairClassifier
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from generation.errors import GenerationError
from generation.filters._cuts import texts_of, with_cuts
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"model": fingerprint(params["model"], CLASSIFIER), "entailment": params["entailment"]}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"entailment": its probability, "likeliest": 1 if no other label is more probable}."""
    model = open_helper(params["model"], CLASSIFIER, device=params["device"])
    label_index = _entailment(model, params["entailment"])
    pairs = texts_of(cases)
    rows = model.probs(pairs)
    measures = [
        {"entailment": float(row[label_index]), "likeliest": float(int(row.argmax()) == label_index)} for row in rows
    ]
    return with_cuts(measures, model, [[pair] for pair in pairs])


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score by P(entailment); rejected if that is the most probable label, or from params["max_entailment"] on."""
    probability, bar = measure["entailment"] or 0.0, params["max_entailment"]
    dropped = bool(measure["likeliest"]) if bar <= 0 else probability >= bar
    return Verdict(not dropped, probability, f"entailed by the caption ({probability:.2f})" if dropped else "")


def _entailment(model: PairClassifier, label_index: int) -> int:
    """Return the index of the label, by its name or from the parameter."""
    if 0 <= label_index < len(model.labels):
        return label_index
    entailment_labels = [index for index, label in enumerate(model.labels) if label.startswith("entail")]
    if label_index >= 0 or len(entailment_labels) != 1:
        labels = ", ".join(f"{index} {label}" for index, label in enumerate(model.labels))
        raise GenerationError(
            f"{model.info.model_id} has the labels {labels}; set parameter 'entailment' to the label's number"
        )
    return entailment_labels[0]
