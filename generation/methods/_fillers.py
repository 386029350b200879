"""Fill blanks with one or several masked language models; ensembles vote (ViLMA, Sec. C.5)."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.hub.catalogue.registry import FILLER
from foilworks.core.hub.interfaces import Fill, Filler
from foilworks.core.hub.opening import open_helper
from generation.errors import GenerationError


@dataclass(frozen=True)
class Choice:
    """A word for a blank. `log_probability`: the mean over the models that voted for it."""

    word: str
    log_probability: float
    votes: int

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


def open_fillers(names: str, device: str) -> tuple[Filler, ...]:
    """Open the models of a comma-separated list of hub ids and folders; GenerationError: the list is empty."""
    fillers = tuple(open_helper(name.strip(), FILLER, device=device) for name in names.split(",") if name.strip())
    if not fillers:
        raise GenerationError(
            "parameter 'model' is empty; give a Hugging Face ID or a folder, or several separated by commas"
        )
    return fillers


def identity(fillers: Sequence[Filler]) -> tuple[str, str]:
    """Return (model id, revision) for the provenance of a candidate."""
    ids = ", ".join(filler.info.model_id for filler in fillers)
    return ids[:200], " ".join(filler.info.revision for filler in fillers)[:64]


def fill_all(
    fillers: Sequence[Filler],
    jobs: Mapping[str, Sequence[tuple[str, str]]],
    allowed: Sequence[Mapping[str, Collection[str]] | None],
    params: Mapping[str, Any],
) -> dict[str, dict[tuple[str, str], list[Choice]]]:
    """Return form -> (text before the blank, text after it) -> words, best first.

    `jobs`: form -> the blanks of that form; equal ones are filled once. `allowed`: per filler its words by form,
    None = all words.
    """
    choices_by_form: dict[str, dict[tuple[str, str], list[Choice]]] = {}
    for form, blanks in jobs.items():
        unique_blanks = list(dict.fromkeys(blanks))
        answers = []
        for filler, words in zip(fillers, allowed, strict=True):
            texts = [f"{before}{filler.blank}{after}" for before, after in unique_blanks]
            answers.append(filler.fill(texts, params["top"], None if words is None else words[form]))
        choices_by_form[form] = {
            blank: vote(rows, params) for blank, *rows in zip(unique_blanks, *answers, strict=True)
        }
    return choices_by_form


def vote(rows: Sequence[Iterable[Fill]], params: Mapping[str, Any]) -> list[Choice]:
    """Rank words. One model: by its order. Several: a model votes for words above `min_probability`; words with
    `min_votes` stay, most votes first, then by the product of the voters' probabilities.
    """
    if len(rows) == 1:
        return [Choice(fill.text, fill.log_probability, 1) for fill in rows[0]]
    min_log_probability = math.log(params["min_probability"]) if params["min_probability"] > 0 else -math.inf
    votes: dict[str, list[float]] = {}
    for row in rows:
        for fill in row:
            if fill.log_probability > min_log_probability:
                votes.setdefault(fill.text, []).append(fill.log_probability)
    accepted = [
        (word, log_probabilities)
        for word, log_probabilities in votes.items()
        if len(log_probabilities) >= params["min_votes"]
    ]
    accepted.sort(key=lambda pair: (-len(pair[1]), -sum(pair[1]), pair[0]))
    return [
        Choice(word, sum(log_probabilities) / len(log_probabilities), len(log_probabilities))
        for word, log_probabilities in accepted
    ]
