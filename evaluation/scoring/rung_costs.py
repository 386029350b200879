"""Say what the rungs of a run would cost, before it starts: from the items of its release, without its model."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evaluation.metrics.rungs import RUNGS, TEXT_VIEW, Rung
from evaluation.metrics.stress import STRESS
from evaluation.scoring.clip_keys import Keyed, clip_key
from evaluation.scoring.models import Run
from evaluation.scoring.queries import item_texts_of, records_of
from evaluation.scoring.rung_params import CHOICES, ladder_params, why_not
from evaluation.scoring.rung_scores import lenders_of
from evaluation.scoring.rungs import FRAMES_TRIED, USUAL, Ladder, keys_of, ladder_of, shown_key
from evaluation.scoring.served.specs import SAMPLES, Mode, ServedSpec, served_spec
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT
from foilworks.core.hub.catalogue.token_estimates import CHARS_PER_TOKEN, TOKENS_PER_IMAGE
from generation.instruction_models.endpoints import find_endpoint

COUNTS = ("views", "texts", "requests", "tokens", "cost")
# Of the words around a text in a prompt.
PROMPT_CHARACTERS = 120
Record = Mapping[str, Any]


def rung_costs(
    release: Release, spec: str, names: Collection[str] = (), tried: int = FRAMES_TRIED, *, usual: bool = True
) -> dict[str, Any]:
    """Return what a model would be asked on each rung, at most: stored scores cost nothing.

    `rungs`: rows with `views`, clips that are shown; `texts`, scores; and through an endpoint `requests`, `tokens` and
    `cost`, 0 for other models. What several rungs read counts for the first one. `clips` are decoded once for all
    rungs. `cannot`: rungs that the model cannot have, with the reason. EvaluationError, HubError, GenerationError: as
    `ladder_params`, or the endpoint is unknown.
    """
    params = ladder_params(release, spec, tried, names=names, usual=usual)
    served = served_spec(spec) if spec.startswith(f"{ENDPOINT}:") else None
    by_item = (served is not None and served.mode != Mode.P_YES) or "mode=choice" in spec
    price = find_endpoint(served.endpoint).price if served else None
    run = Run(release=release, spec=spec, params={"ladder": params, "by_item": by_item})
    records = [*records_of(release), *records_of(release, private=True)]
    chosen = [Rung.FULL.value, *params["rungs"], *params.get("stress", ())]
    counts: dict[str, dict[str, float]] = {name: dict.fromkeys(COUNTS, 0) for name in chosen}
    shown: set[tuple[str, str]] = set()
    asked: set[tuple[str, str]] = set()
    for name, key, texts in _pairs(run, records, chosen):
        row, new = counts[name], [text for text in texts if (key, text) not in asked]
        row["views"] += bool(new) and (name, key) not in shown and not _is_blank(key)
        row["texts"] += len(new)
        shown.add((name, key))
        asked.update((key, text) for text in new)
        if served is not None and new:
            _add_requests(row, key, new, served, price)
    labels = {**{str(rung): kind.label for rung, kind in RUNGS.items()}, **{n: t.label for n, t in STRESS.items()}}
    return {
        "rungs": [{"rung": name, "label": labels[name], **row} for name, row in counts.items()],
        "total": {name: sum(row[name] for row in counts.values()) for name in COUNTS},
        "clips": len({clip_key(record["video"]) for record in records}),
        "is_priced": price is not None,
        "cannot": why_not(spec),
        "usual": [rung.value for rung in USUAL],
        "choices": list(CHOICES),
    }


def _pairs(run: Run, records: Sequence[Record], chosen: Sequence[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (rung or stress test, key of what is shown, texts) of all items, as the run would store their scores."""
    ladder = ladder_of(run.params) or Ladder(())
    keyed = Keyed.TEXTS if run.params["by_item"] else Keyed.CLIP
    for name in chosen:
        lenders = lenders_of(run, rung=Rung(name)) if name not in STRESS else {}
        for record in records:
            item_texts = item_texts_of(record, keyed)
            if name in STRESS:
                texts = STRESS[name].texts or item_texts.main
                for view in STRESS[name].views:
                    yield name, shown_key(keyed, record, "main", texts, view), texts
                continue
            for comparison, texts in (("main", item_texts.main), ("proficiency", item_texts.proficiency)):
                keys = keys_of(keyed, record, comparison, texts, Rung(name), ladder, lenders.get(record["id"]))
                for key in keys if texts else ():
                    yield name, key, texts


def _is_blank(key: str) -> bool:
    return key.startswith("~") or f"~{TEXT_VIEW} " in key


def _add_requests(
    row: dict[str, float], key: str, texts: Sequence[str], spec: ServedSpec, price: tuple[float, float] | None
) -> None:
    """Add the requests about a clip. Log-probabilities are assumed unless the options say samples."""
    n, samples = len(texts), max(1, spec.samples(spec.by != SAMPLES))
    per_text = {Mode.P_YES: 1, Mode.PAIRS: n - 1, Mode.CHOICE: 1}[spec.mode]
    shown_texts = {Mode.P_YES: 1, Mode.PAIRS: 2, Mode.CHOICE: n}[spec.mode]
    requests = n * per_text * samples
    characters = PROMPT_CHARACTERS + shown_texts * sum(map(len, texts)) / n
    images = 0 if _is_blank(key) else spec.frames
    n_in = characters / CHARS_PER_TOKEN + TOKENS_PER_IMAGE * images
    row["requests"] += requests
    row["tokens"] += round(requests * (n_in + spec.thinking.budget))
    into, out = price or (0.0, 0.0)
    row["cost"] += requests * (n_in * into + spec.thinking.budget * out) / 1e6


def cost_line(costs: dict[str, Any]) -> str:
    """Return the cost of all chosen rungs in one line."""
    total = costs["total"]
    line = f"{len(costs['rungs'])} rungs and tests: {costs['clips']} clips are decoded once; "
    line += f"{total['views']} views, {total['texts']} texts"
    if total["requests"]:
        line += f", {total['requests']} requests, about {total['tokens']} tokens"
    return line + (f", cost {total['cost']:.4f}" if costs["is_priced"] else "")
