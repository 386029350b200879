"""Audit public sets with an independent random forest, and put the blind solver's number beside it.

    .venv/bin/python -m benchmarks.forest_audit FOLDER [NAME ...] --seeds 0 1 --out forest.json

FOLDER is that of scripts/audits.py. The forest shares the reader of files with the solver, and no feature: it reads
lengths, counts, a decomposition of tf-idf, overlaps, positions, ranks of numbers, and rates of answers in its training
folds. Folds share no video. The value is the mean over seeds; the solver's is that of `docs/audits.md`.

If a file balances the answers to each text, the answers of the training folds point away from the held-out one. A
forest learns that, and a solver of single items cannot. With `--rates-rise`, higher rates never make an option less
likely, as in the solver.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GroupKFold

from evaluation.analyses.questions import questions_of
from evaluation.audit.file_reader import Problems, read_all
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.folds import structure_of
from scripts.audits import PAGE, START, VIDEO_SETS, Benchmark

Floats = NDArray[np.float64]
N_FOLDS, N_TREES, N_COMPONENTS, PRIOR = 5, 150, 15, 3.0
MAX_ITEMS = 10_000
LABELS = ("no", "yes", "false", "true")


class Rows:
    """The options of n records as rows: their item, features that need no answer, and keys whose rates are counted."""

    def __init__(self, records: Sequence[TextRecord]) -> None:
        self.options, self.right = [], []
        for record in records:
            position = record.position
            if position is None:
                options = sorted([record.right, *record.wrongs])
                position = options.index(record.right)
            else:
                options = [*record.wrongs[:position], record.right, *record.wrongs[position:]]
            self.options.append(options)
            self.right += [float(index == position) for index in range(len(options))]
        self.item = np.repeat(np.arange(len(records)), [len(options) for options in self.options])
        self.names, columns, self.keys = [], defaultdict(list), []
        count = Counter(text for options in self.options for text in options)
        for record, options in zip(records, self.options, strict=True):
            for index, text in enumerate(options):
                row = _numbers(record.question, options, index, count)
                for name, value in row.items():
                    columns[name].append(value)
                self.keys.append(_keys(record, text, index if record.position is not None else -1))
        self.names = list(columns)
        kinds = {kind: code for code, kind in enumerate(sorted({record.subtest for record in records}))}
        of_kinds = np.array([kinds[record.subtest] for record in records])[self.item]
        texts = [record.question for record in records]
        of_options = _components([text for options in self.options for text in options])
        values = [*columns.values(), of_kinds, *of_options.T, *_components(texts)[self.item].T]
        self.names += ["kind", *(f"option component {n}" for n in range(of_options.shape[1]))]
        self.names += [f"question component {n}" for n in range(len(values) - len(self.names))]
        self.values = np.column_stack(values)


def _numbers(question: str, options: Sequence[str], index: int, count: Counter[str]) -> dict[str, float]:
    text, asked = options[index], set(re.findall(r"\w+", question.lower()))
    sets = [set(re.findall(r"\w+", option.lower())) for option in options]
    own, others = sets[index], [row for at, row in enumerate(sets) if at != index]
    similar = [len(own & row) / max(1, len(own | row)) for row in others]
    lengths, values = [len(option) for option in options], [_value(option) for option in options]
    value = values[index]
    return {
        "position": index, "options": len(options), "characters": len(text), "words": len(text.split()),
        "length minus mean": len(text) - sum(lengths) / len(lengths),
        "rank of length": sum(length < len(text) for length in lengths),
        "capital": float(text[:1].isupper()), "full stop": float(text.rstrip()[-1:] == "."),
        "commas": text.count(","), "digits": sum(map(str.isdigit, text)),
        "shared with question": len(own & asked), "share of question": len(own & asked) / max(1, len(own)),
        "mean similarity": sum(similar) / len(similar), "highest similarity": max(similar),
        "words of its own": len(own - set().union(*others)), "frequency": np.log(count[text]),
        "number": value, "rank of number": sum(other < value for other in values),
        "distance to median": abs(value - float(np.median(values))), "words of question": len(question.split()),
    }  # fmt: skip


def _value(text: str) -> float:
    match = re.search(r"\d+(?:\.\d+)?", text)
    return float(match[0]) if match else -1.0


def _keys(record: TextRecord, text: str, index: int) -> list[Hashable]:
    opening = " ".join(record.question.lower().split()[:3])
    return [
        ("option", text), ("kind", record.subtest, text), ("question", record.question, text),
        ("opening", opening, text), ("place", record.subtest, index), ("first word", text.split(" ")[0]),
    ]  # fmt: skip


def _components(texts: Sequence[str]) -> Floats:
    if len(set(texts)) < 3:
        return np.zeros((len(texts), 1))
    matrix = TfidfVectorizer(
        min_df=2, ngram_range=(1, 2), tokenizer=re.compile(r"\w+").findall, token_pattern=None
    ).fit_transform(texts)
    return np.asarray(TruncatedSVD(min(N_COMPONENTS, matrix.shape[1] - 1), random_state=0).fit_transform(matrix))


def _rates(rows: Rows, right: Floats, known: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Floats:
    """Return the shrunken rates of right answers of each key of the `asked` rows among the `known` rows."""
    chance = 1 / np.bincount(rows.item)[rows.item]
    surplus, number = Counter[Hashable](), Counter[Hashable]()
    for row in np.flatnonzero(known):
        for key in rows.keys[row]:
            surplus[key] += right[row] - chance[row]
            number[key] += 1
    return np.array([[surplus[key] / (number[key] + PRIOR) for key in rows.keys[row]] for row in np.flatnonzero(asked)])


def forest_of(records: Sequence[TextRecord], seed: int, rates_rise: bool = False) -> tuple[Floats, dict[str, float]]:
    """Return (n,) credits of held-out items, and the importance of each feature.

    `rates_rise`: a higher rate never makes an option less likely.
    """
    rows = Rows(records)
    right = np.array(rows.right)
    # Mirrored sets stay together, as in the audit: a twin with the opposite answer is no shortcut of a text.
    groups = structure_of(*questions_of(records)).groups
    split = GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(records, groups=groups)
    folds = np.zeros(len(records), dtype=int)
    for fold, (_, held_out) in enumerate(split):
        folds[held_out] = fold
    of_rows, scores, importance = folds[rows.item], np.zeros(len(right)), 0.0
    for fold in range(N_FOLDS):
        held_out = of_rows == fold
        values = np.zeros((len(right), len(rows.keys[0])))
        for inner in range(N_FOLDS):
            # Rates of a training fold come from the other training folds.
            values[of_rows == inner] = _rates(rows, right, ~np.isin(of_rows, [fold, inner]), of_rows == inner)
        values[held_out] = _rates(rows, right, ~held_out, held_out)
        data = np.hstack([rows.values, values]).astype(np.float32)
        directions = [0] * rows.values.shape[1] + [int(rates_rise)] * values.shape[1]
        forest = RandomForestClassifier(
            N_TREES, min_samples_leaf=3, max_features=0.3, random_state=seed + fold, monotonic_cst=directions
        )
        forest.fit(data[~held_out], right[~held_out])
        scores[held_out] = forest.predict_proba(data[held_out])[:, 1]
        importance = importance + forest.feature_importances_ / N_FOLDS
    names = [*rows.names, *(f"rate by {key[0]}" for key in rows.keys[0])]
    starts = np.flatnonzero(np.diff(rows.item, prepend=-1))
    is_best = scores >= np.maximum.reduceat(scores, starts)[rows.item] - 1e-9
    credits = np.add.reduceat(is_best * right, starts) / np.add.reduceat(is_best.astype(float), starts)
    return credits, dict(zip(names, importance, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--rates-rise", action="store_true", help="forbid the forest to answer against its rates")
    parser.add_argument("--out", type=Path, help="also write values, subtests and importances as JSON")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    for benchmark in VIDEO_SETS:
        if options.names and benchmark.folder not in options.names:
            continue
        if result := _measured(options.folder, benchmark, options.seeds, options.rates_rise):
            results[benchmark.folder] = result
            ours = _published(benchmark.name)
            print(f"{benchmark.name}: forest {result['value']:.1%}, solver {ours}", flush=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))


def _measured(folder: Path, benchmark: Benchmark, seeds: Sequence[int], rates_rise: bool) -> dict[str, Any]:
    answers = folder / benchmark.folder / benchmark.answers if benchmark.answers else None
    sources = [Source(folder / benchmark.folder / name, answers=answers) for name in benchmark.files]
    records = [record for record in read_all(sources, Problems()) if record.wrongs][:MAX_ITEMS]
    if not records:
        return {}
    runs = [forest_of(records, seed, rates_rise) for seed in seeds]
    credits = np.mean([credits for credits, _ in runs], axis=0)
    kinds = defaultdict(list)
    for record, credit in zip(records, credits, strict=True):
        kinds[record.subtest].append(credit)
    return {
        "items": len(records),
        "value": float(credits.mean()),
        "spread": [float(row.mean()) for row, _ in runs],
        "kinds": {kind: (len(row), float(np.mean(row))) for kind, row in kinds.items()},
        "importance": {name: float(np.mean([run[1][name] for run in runs])) for name in runs[0][1]},
    }


def _published(name: str) -> str:
    rows = PAGE.read_text(encoding="utf-8").partition(START)[2].split("\n")
    return next((row.split(" | ")[4] for row in rows if row.startswith(f"| {name} | ")), "")


if __name__ == "__main__":
    main()
