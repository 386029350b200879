"""Measure what runs make of captions that the rules were not tuned on, and how much of it texts alone answer.

    .venv/bin/python -m benchmarks.drawn_foils FOLDER --seed 7 --captions 1000 --out OUT

FOLDER has one JSON Lines file of captions per corpus (`foilworks foil --file` reads them). The seed draws as many
captions of each corpus; one run per kind of foil is over all of them. Printed per kind, without and with the balanced
draw: the foils, and what the first view of the audit answers, with its 95 % interval. A solver that gives the
opposite answer is right in the rest. Corpora with fewer than 100 foils of a kind are not printed. --out stores the
foils as JSON lines per kind, which `foilworks audit` reads.
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.solver.pairs import OVERALL, UNSOLVED, solve_pairs
from foilworks.core.solver.questions import Row
from foilworks.core.text.registry import parse_params
from generation import pipeline
from generation.caption_file import CaptionFile
from generation.filters.registry import DRAW, FILTERS
from generation.methods.registry import METHODS
from generation.pipeline import Outcome, Step
from generation.records import CaptionInput
from generation.trial import WithSiblings

KINDS = (
    "preposition",
    "state_change",
    "gender_swap",
    "number",
    "colour_swap",
    "actor_swap",
    "event_order",
    "direction",
    "attribute_swap",
    "negation",
)
MIN_FOILS, MIN_FOILS_OF_CORPUS = 300, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--captions", type=int, default=1000, help="per corpus")
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    corpora = dict(_corpora(options.folder, options.captions, options.seed))
    print(f"{sum(map(len, corpora.values()))} captions of {', '.join(corpora)}")
    print("| kind | way | foils | first view | opposite |\n|---|---|--:|--:|--:|")
    for kind in options.kinds:
        outcomes = _outcomes(kind, WithSiblings([caption for rows in corpora.values() for caption in rows]))
        step = Step.of(FILTERS, DRAW, "filter", parse_params(FILTERS[DRAW], {}))
        drawn = pipeline.draw(outcomes, step, seed=options.seed)
        _report(kind, "none", outcomes, {}, options.seed)
        rows = _report(kind, "draw", drawn, corpora, options.seed)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            (options.out / f"{kind}.jsonl").write_text(text, encoding="utf-8")


def _corpora(folder: Path, n_captions: int, seed: int) -> Iterator[tuple[str, list[CaptionInput]]]:
    for path in sorted(folder.glob("*.jsonl")):
        captions = list(CaptionFile(path))
        yield path.stem, random.Random(f"{seed} {path.stem}").sample(captions, min(n_captions, len(captions)))


def _outcomes(kind: str, captions: WithSiblings) -> list[Outcome]:
    method = pipeline.before_draw(Step.of(METHODS, kind, "method", parse_params(METHODS[kind], {})))
    state = pipeline.prepare(method, captions, mode="corrected", seed=0)
    return list(pipeline.run(method, captions, mode="corrected", seed=0, state=state))


def _report(
    kind: str, way: str, outcomes: Sequence[Outcome], corpora: Mapping[str, Sequence[CaptionInput]], seed: int
) -> list[dict[str, Any]]:
    """Print what texts answer of one foil per caption, drawn at random. Return these foils as records."""
    generator = random.Random(seed)
    records = []
    for outcome in outcomes:
        foils = [judged.draft.foil for judged in outcome.foils if not judged.rejected_by]
        if foils:
            caption = outcome.caption
            texts = {"caption": caption.text, "foil": generator.choice(foils)}
            records.append({"id": caption.id, "video": caption.video or caption.id, "subtest": kind, **texts})
    _print_row(kind, way, records, MIN_FOILS)
    for name, captions in corpora.items():
        ids = {caption.id for caption in captions}
        rows = [record for record in records if record["id"] in ids]
        if len(rows) >= MIN_FOILS_OF_CORPUS:
            _print_row(kind, f"{way}, {name}", rows, MIN_FOILS_OF_CORPUS)
    return records


def _print_row(kind: str, way: str, records: Sequence[Mapping[str, Any]], min_foils: int) -> None:
    row = solve_pairs([Row(record["caption"], (record["foil"],), video=record["video"]) for record in records])
    solved = row.get(OVERALL, UNSOLVED)
    if len(records) < min_foils or solved["solver_accuracy"] is None:
        print(f"| {kind} | {way} | {len(records)} | too few | |", flush=True)
        return
    value, (low, high) = solved["solver_accuracy"], solved["ci"]
    print(f"| {kind} | {way} | {len(records)} | {value:.1%} [{low:.1%}, {high:.1%}] | {1 - value:.1%} |", flush=True)


if __name__ == "__main__":
    main()
