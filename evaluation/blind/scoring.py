"""Run the job of a blind scorer: score every text of the project's main items that has no value yet, once."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.analyses.preference import TextScores, preference
from evaluation.blind.models import BlindScorer
from evaluation.blind.scores import NO_CLIP, PROTOCOL, known_values, texts_of
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Score
from evaluation.scoring.truncation import texts_at_limit
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress

# A killed worker loses at most these.
TEXTS_PER_WRITE = 64


def score_blind(scorer_id: int, job: Job) -> None:
    """Score every text without a value.

    EvaluationError: the model needs a video, so it is not blind.
    """
    scorer = BlindScorer.objects.select_related("project").get(pk=scorer_id)
    adapter: Any = open_adapter(scorer.spec, device=scorer.device)
    _check_blind(scorer.spec, adapter.info)
    scorer.model_key = f"{adapter.info.model_id}@{adapter.info.revision}"
    items = item_facts(scorer.project)
    texts = texts_of(items)
    scorer.at_limit = {text_key(text): text_read for text, text_read in _kept(adapter, texts).items()}
    scorer.save(update_fields=["model_key", "at_limit"])
    stored = known_values(scorer, items).scores.values
    missing = [text for text in texts if text not in stored]
    done = len(texts) - len(missing)
    progress(job, done, len(texts), f"texts to score: {len(missing)} ({adapter.info.model_id})")
    for start in range(0, len(missing), TEXTS_PER_WRITE):
        batch = missing[start : start + TEXTS_PER_WRITE]
        values = adapter.score(None, batch)
        Score.objects.bulk_create(
            [_row(scorer, text, value.value, adapter.info) for text, value in zip(batch, values, strict=True)],
            ignore_conflicts=True,
        )
        done += len(batch)
        progress(job, done, len(texts))
    BlindScorer.objects.filter(pk=scorer.pk).update(scored_at=timezone.now())


def preference_of_file(spec: str, items: Sequence[ItemFacts]) -> dict[str, Any]:
    """Compute how often a text-only model finds the caption likelier; stores nothing. EvaluationError as above."""
    adapter: Any = open_adapter(spec)
    _check_blind(spec, adapter.info)
    texts = texts_of(items)
    values = {text: score.value for text, score in zip(texts, adapter.score(None, texts), strict=True)}
    return preference(items, TextScores(values, adapter.info.higher_is_better, _kept(adapter, texts)))


class TextScorer:
    """A function from texts to scores, higher is likelier, of a text-only model. EvaluationError as above."""

    def __init__(self, spec: str) -> None:
        self._adapter: Any = open_adapter(spec)
        _check_blind(spec, self._adapter.info)
        self._sign = 1.0 if self._adapter.info.higher_is_better else -1.0

    def __call__(self, texts: Sequence[str]) -> list[float]:
        return [self._sign * score.value for score in self._adapter.score(None, texts)]

    @property
    def n_parameters(self) -> int | None:
        """Return the number of parameters; None if the model is not in this process."""
        model = getattr(self._adapter, "model", None)
        return sum(weight.numel() for weight in model.parameters()) if hasattr(model, "parameters") else None


class WholeTextScorer(TextScorer):
    """A scorer of long texts. EvaluationError also: the model cannot read a text whole."""

    def __call__(self, texts: Sequence[str]) -> list[float]:
        n_cut = sum(is_cut for _, is_cut in _kept(self._adapter, texts).values())
        if n_cut:
            raise EvaluationError(
                f"the model cannot read {n_cut} of {len(texts)} texts whole: its context is too short; choose one with "
                "a longer context"
            )
        return super().__call__(texts)


def _kept(adapter: Any, texts: Sequence[str]) -> dict[str, tuple[str, bool]]:
    return {text: (read.kept, read.is_cut) for text, read in (texts_at_limit(adapter, texts) or {}).items()}


def _check_blind(spec: str, info: Any) -> None:
    if info.needs_video:
        raise EvaluationError(f"{spec} reads videos; the blind audit needs a text-only model, such as lm:…")


def _row(scorer: BlindScorer, text: str, value: float, info: Any) -> Score:
    return Score(
        model_key=scorer.model_key,
        protocol=PROTOCOL,
        clip_key=NO_CLIP,
        text_sha256=text_key(text),
        value=value,
        kind=info.kind.value,
        higher_is_better=info.higher_is_better,
    )
