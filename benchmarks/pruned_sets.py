"""Prune public sets and check the kept items with a learner that is not the product's.

    .venv/bin/python -m benchmarks.pruned_sets FOLDER --only SET --seed 0 --write
    .venv/bin/python -m benchmarks.pruned_sets FOLDER --only SET --removed LIST
    .venv/bin/python -m benchmarks.pruned_sets --plants 1000 --write

FOLDER has one folder per set, named as in `SETS`, with its files as published (docs/explanation/balance.md lists them).
Each set is pruned and written, and the written file is audited. Printed per set: the value of all items, the result,
items kept, their chance, the certificate of the reserved families, the check, and the bound. The check is a random
forest and a logistic regression of words (5 folds by video, other seeds than the selection's), the sum of whose
probabilities chooses an option. `--write` puts each row into docs/explanation/balance.md as soon as it is measured.

With `--plants`, made-up sets of so many items are pruned instead: the planted shortcuts of
benchmarks/planted_shortcuts.py, and sets without a shortcut.
With `--removed`, the items that somebody else's list leaves are compared with our selection, stopped as soon as the
solver answers no more of it than of theirs. Printed for both: items, the solver's value, the check.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from benchmarks.made_up_sets import FAIR, Plant
from benchmarks.planted_shortcuts import PLANTS
from evaluation.analyses.questions import questions_of
from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.pruning import Flags, PrunedFiles, apply, name_of, prune_files
from foilworks import __version__
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.solver.folds import structure_of
from foilworks.core.solver.inference import block_interval
from foilworks.core.solver.layout import Layout, relative_columns
from foilworks.core.solver.pruning import Pruned, Pruner, prune
from foilworks.core.solver.questions import Answers, Question, separate_answers
from foilworks.core.solver.solve import first_view

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "balance.md"
HEAD = ("set", "items", "before", "result", "kept", "chance", "kept, others", "kept, check", "bound")
# Folder -> name on the page: ten sets of questions with options, then three of captions with foils.
SETS = {
    "egoschema": "EgoSchema, 500 with answers",
    "longvideobench": "LongVideoBench, validation",
    "lvbench": "LVBench",
    "mlvu": "MLVU, test, choices",
    "tempcompass_choice": "TempCompass, multi-choice",
    "tvbench": "TVBench",
    "video-holmes": "Video-Holmes",
    "video-mme": "Video-MME, test",
    "videocon": "VideoCon, NExT-QA statements",
    "vsi-bench": "VSI-Bench, questions with options",
    "vilma-relations": "ViLMA, spatial relations",
    "contrast_lm": "Contrast set of MSR-VTT, by a language model",
    "contrast_human": "Contrast set of MSR-VTT, by people",
}
MADE_UP = {**{f"fair: {name}": Plant(make, 0.0) for name, make in FAIR.items()}, **PLANTS}
N_FOLDS, SEED = 5, 271_828
# A rate of few options is drawn to this many options at chance.
PRIOR = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("--only", nargs="+", metavar="SET", help="these sets, not all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plants", type=int, metavar="ITEMS", help="prune made-up sets instead of files")
    parser.add_argument("--removed", type=Path, metavar="LIST", help="ids that another pruning removes, one per line")
    parser.add_argument("--write", action="store_true", help="put each row into the page")
    options = parser.parse_args()
    if options.removed:
        for line in _compared(options.folder / options.only[0], options.removed, options.seed):
            print(line, flush=True)
        return
    print(f"| {' | '.join(HEAD)} |", flush=True)
    mark, rows = ("plants", _made_up(options)) if options.plants else ("pruned", _public(options))
    for row in rows:
        print(row, flush=True)
        if options.write:
            PAGE.write_text(with_row(PAGE.read_text(encoding="utf-8"), mark, row), encoding="utf-8")


def _public(options: argparse.Namespace) -> Iterator[str]:
    for name in options.only or SETS:
        sources = [row for path in sorted((options.folder / name).iterdir()) for row in sources_of(Source(path))]
        files = prune_files(sources, options.seed, n_seeds=1)
        if files.pruned.certificate and files.pruned.verdict != "no_fair_subset":
            _compare_with_audit(files)
        yield _row(SETS[name], files.pruned, *questions_of(files.records))


def _made_up(options: argparse.Namespace) -> Iterator[str]:
    for name in options.only or MADE_UP:
        rows = MADE_UP[name].make(random.Random(f"{name} {options.seed}"), options.plants)
        questions, answers = separate_answers(rows)
        yield _row(name, prune(questions, answers, options.seed, n_seeds=1), questions, answers)


def with_row(page: str, mark: str, row: str) -> str:
    """Return the page with a row of the table between the marks replaced, or added at its end."""
    end = f"<!-- {mark}: end -->"
    head, _, table = page.partition(f"<!-- {mark}: start -->\n")
    table, _, rest = table.partition(end)
    name = row.split(" | ")[0]
    lines = table.splitlines()
    at = next((at for at, line in enumerate(lines) if line.split(" | ")[0] == name), len(lines))
    lines[at : at + 1] = [row]
    return "\n".join([f"{head}<!-- {mark}: start -->", *lines, f"{end}{rest}"])


def _row(name: str, pruned: Pruned, questions: Sequence[Question], answers: Answers) -> str:
    before, certificate = pruned.before.headline, pruned.certificate and pruned.certificate.headline
    verdict, n_kept = pruned.verdict.replace("_", " "), f"{int(pruned.is_kept.sum()):,}"
    cells = [name, f"{len(questions):,}", _percent(before.value), verdict]
    if certificate is None:
        # Where the selection ended, if there was one.
        cells += ["–" if pruned.is_kept.all() else f"({n_kept})", _percent(before.chance), "–", "–"]
    else:
        remaining = [question for question, stays in zip(questions, pruned.is_kept, strict=True) if stays]
        checked = check(remaining, answers[pruned.is_kept])
        cells += [n_kept, _percent(certificate.chance), _interval(certificate.value, certificate.interval)]
        cells.append(_interval(*checked))
    return f"| {' | '.join([*cells, f'{pruned.bound:,}'])} |"


def _compared(folder: Path, removed: Path, seed: int) -> Iterator[str]:
    """Yield a line for the items that a list leaves, and one for our selection where the solver answers no more."""
    names = set(removed.read_text(encoding="utf-8").split())
    sources = [row for path in sorted(folder.iterdir()) for row in sources_of(Source(path))]
    records = [record.probed() for record in read_all(sources, Problems()) if record.counted(record.wrongs)]
    questions, answers = questions_of(records)
    theirs = np.array([name_of(record) not in names for record in records])
    excess, line = _measured("theirs", questions, answers, theirs)
    yield line
    yield _measured("ours", questions, answers, Pruner(questions, answers).select(excess, seed)[0])[1]


def _measured(name: str, questions: Sequence[Question], answers: Answers, is_kept: Flags) -> tuple[float, str]:
    """Return how far the solver is above chance on the kept items, and their line."""
    remaining = [question for question, stays in zip(questions, is_kept, strict=True) if stays]
    row = first_view(remaining, answers[is_kept]).headline
    checked = _interval(*check(remaining, answers[is_kept]))
    line = f"{name:8} {len(remaining):6}  chance {_percent(row.chance)}  solver {_interval(row.value, row.interval)}"
    return row.value - row.chance, f"{line}  check {checked}"


def _compare_with_audit(files: PrunedFiles) -> None:
    """Write the set, audit it, and raise AssertionError if items are lost or the verdict is not the certificate's."""
    with tempfile.TemporaryDirectory() as folder:
        written = apply(files, Path(folder), __version__)
        paths = [written] if written.is_file() else sorted(written.iterdir())
        result = audit([row for path in paths for row in sources_of(Source(path))], Options())
    assert result["items"] == int(files.pruned.is_kept.sum()), (result["items"], int(files.pruned.is_kept.sum()))
    certificate = files.pruned.certificate
    assert certificate is not None
    assert result["without_video"]["verdict"] == certificate.headline.verdict


def check(questions: Sequence[Question], answers: Answers) -> tuple[float, tuple[float, float]]:
    """Return the share of items that the two learners answer together, out of fold, and its 95 % interval."""
    layout, structure = Layout.of(questions), structure_of(questions, answers)
    right, columns = layout.right_rows(answers), hand_made(layout)
    words = sparse.hstack([vectors(layout.texts), vectors(_crossed(layout))]).tocsr()
    groups = np.random.default_rng(SEED).permutation(int(structure.groups.max()) + 1)[structure.groups]
    scores = np.zeros(layout.n_rows)
    for train, test in GroupKFold(N_FOLDS).split(groups, groups=groups):
        rows = np.isin(layout.item, train)
        held_out = np.isin(layout.item, test)
        of_fold = np.column_stack([columns, *rates(layout, right, rows)])
        forest = RandomForestClassifier(200, min_samples_leaf=3, random_state=SEED, n_jobs=1)
        linear = LogisticRegression(C=1.0, max_iter=300)
        scores[held_out] += forest.fit(of_fold[rows], right[rows]).predict_proba(of_fold[held_out])[:, 1]
        scores[held_out] += linear.fit(words[rows], right[rows]).predict_proba(words[held_out])[:, 1]
    return block_interval(layout.credits(scores, answers), structure.blocks)


def hand_made(layout: Layout) -> Floats:
    """Return (R, F) lengths, forms, similarity of options to one another and to the question, position."""
    vector = vectors(layout.texts)
    means = sparse.csr_matrix((np.ones(layout.n_rows), (layout.item, np.arange(layout.n_rows)))) @ vector
    to_others = np.asarray(vector.multiply(means[layout.item]).sum(axis=1)).ravel()
    asked = [set(words) for words in layout.question_words]
    overlap = [len(set(own) & asked[item]) for own, item in zip(layout.option_words, layout.item, strict=True)]
    numbers = [sum(map(str.isdigit, text)) for text in layout.texts]
    frequent = [np.mean([layout.option_frequency[word] for word in own] or [0]) for own in layout.option_words]
    raw = np.column_stack(
        [
            [len(text) for text in layout.texts],
            [len(own) for own in layout.option_words],
            [sum(map(str.isupper, text)) for text in layout.texts],
            [sum(not character.isalnum() for character in text) for text in layout.texts],
            *(to_others, overlap, numbers, frequent),
        ]
    ).astype(float)
    rank, equal = relative_columns(layout, raw)
    return np.column_stack([raw, layout.centred(raw), rank, equal, layout.position, layout.sizes[layout.item]])


def rates(layout: Layout, right: Floats, rows: NDArray[np.bool_]) -> list[Floats]:
    """Return (R,) how often options with the same key are right in the training rows, above chance; own rows excluded.

    Keys: the option, with the kind of question, with its opening, and the position with the kind.
    """
    chance, kinds = 1 / layout.sizes[layout.item], [question.kind for question in layout.questions]
    keys = [
        list(layout.texts),
        [f"{kinds[item]}|{text}" for item, text in zip(layout.item, layout.texts, strict=True)],
        [f"{layout.openings[item]}|{text}" for item, text in zip(layout.item, layout.texts, strict=True)],
        [f"{kinds[item]}|{at}" for item, at in zip(layout.item, layout.position, strict=True)],
    ]
    columns = []
    for column in keys:
        sums, counts = defaultdict[str, float](float), defaultdict[str, float](float)
        for row in np.flatnonzero(rows):
            sums[column[row]] += right[row] - chance[row]
            counts[column[row]] += 1
        own_sum, own_count = np.where(rows, right - chance, 0.0), rows.astype(float)
        total = np.array([sums[key] for key in column]) - own_sum
        columns.append(total / (np.array([counts[key] for key in column]) - own_count + PRIOR))
    return columns


def vectors(texts: Sequence[str]) -> sparse.csr_matrix:
    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, tokenizer=str.split, token_pattern=None).fit_transform(
        [*texts, "a a"]
    )[:-1]


def _crossed(layout: Layout) -> list[str]:
    """Return the words of options, each with the opening of its question."""
    openings = [opening.replace(" ", "_") for opening in layout.openings]
    return [
        " ".join(f"{openings[item]}|{word}" for word in own) or "-"
        for own, item in zip(layout.option_words, layout.item, strict=True)
    ]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _interval(value: float, interval: tuple[float, float]) -> str:
    return f"{_percent(value)} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


if __name__ == "__main__":
    main()
