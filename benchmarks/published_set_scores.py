"""Compare scores of sets of answers with the publishers' own code (docs/reference/formulas.md#metric-sets).

`.venv/bin/python -m benchmarks.published_set_scores FOLDER`. FOLDER has clones of four repositories:
`minimal_video_pairs`, `TimeBlind`, `Vinoground` and `Video-MME-v2`. Their functions score made-up answers, and all
outcomes of a set, whose mean is chance and luck. It prints the largest difference, and ends with 1 above 1e-9.
"""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics.sets import CHAINS
from foilworks import metrics

N_SETS, SEED, LIMIT = 400, 313, 1e-9
Scores = dict[str, float]
Scorer = Callable[[list[tuple[int, ...]]], Scores]
Places = list[dict[str, str]]
# Fields of the answers of a set, in the order of the publisher.
PAIR: Places = [{"question": "1", "clip": clip} for clip in "12"]
INSTANCE: Places = [{"question": question, "clip": clip} for question in "01" for clip in "01"]
PARTS: Places = [{"part": part} for part in ("text", "text", "video", "video")]


def functions(path: Path, *names: str) -> list[Callable[..., Any]]:
    """Return functions of a file without its imports, which need their environment."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    space: dict[str, Any] = {"ast": ast}
    exec(compile(tree, str(path), "exec"), space)  # noqa: S102
    return [space[name] for name in names]


def mvp(folder: Path) -> Scorer:
    (compute,) = functions(folder / "minimal_video_pairs/tasks/mvp/utils.py", "compute_metrics")

    def score(sets: list[tuple[int, ...]]) -> Scores:
        rows = [
            {"rating": right, "video_id": f"pair_{n}_{clip}"}
            for n, own in enumerate(sets)
            for clip, right in enumerate(own)
        ]
        single, pair = compute(rows)
        return {"accuracy": single / 100, "group": pair / 100, "question": pair / 100}

    return score


def timeblind(folder: Path) -> Scorer:
    (get_scores,) = functions(folder / "TimeBlind/utils.py", "get_scores")
    names = {"Acc": "accuracy", "Q_Acc": "question", "V_Acc": "clip", "I_Acc": "group"}

    def score(sets: list[tuple[int, ...]]) -> Scores:
        # Yes is right for the first and the last answer of a set.
        said = [[float(right == yes) for right, yes in zip(own, (1, 0, 0, 1), strict=True)] for own in sets]
        return {names[name]: value for name, value in get_scores(said).items()}

    return score


def vinoground(folder: Path) -> Scorer:
    def score(sets: list[tuple[int, ...]]) -> Scores:
        with tempfile.TemporaryDirectory() as work:
            data, model = Path(work) / "data", Path(work) / "results" / "model"
            data.mkdir()
            model.mkdir(parents=True)
            for at, kind in enumerate(("text", "video")):
                rows = [
                    (f"{n}_{way}", own[2 * at + k])
                    for n, own in enumerate(sets)
                    for k, way in enumerate(("pos", "neg"))
                ]
                questions = [{"idx": name, "GT": "A"} for name, _right in rows]
                (data / f"vinoground_{kind}score.json").write_text(json.dumps(questions))
                lines = [json.dumps({"idx": name, "response": ["A" if right else "B"]}) for name, right in rows]
                (model / f"{kind}score-response.jsonl").write_text("\n".join(lines))
            lines = ["index,major,minor", *(f"{n},object," for n in range(len(sets)))]
            (data / "vinoground.csv").write_text("\n".join(lines))
            script = (folder / "Vinoground/get_score_all.py").resolve()
            command = [sys.executable, script, "--data", data, "--results", model.parent]
            subprocess.run(list(map(str, command)), cwd=work, check=True)
            return _sheet(Path(work) / "vinoground_evaluation_results.xlsx")

    return score


def _sheet(path: Path) -> Scores:
    import openpyxl

    rows = list(openpyxl.load_workbook(path)["all"].iter_rows(values_only=True))
    return {name: float(value) / 100 for name, value in zip(rows[0][1:], rows[1][1:], strict=True)}


def video_mme_v2(folder: Path, structure: str) -> Scorer:
    relevance, logic = functions(folder / "Video-MME-v2/evaluation/test_video_mme_v2.py", "cal_relevance", "cal_logic")

    def score(sets: list[tuple[int, ...]]) -> Scores:
        scores = [logic(own, structure) if structure in CHAINS else relevance(own)[0] for own in sets]
        name = "first_error" if structure in CHAINS else structure
        mean = sum(scores) / len(scores) / 100
        return {name: mean, "score": mean, "accuracy": float(np.mean(sets))}

    return score


def cases(folder: Path) -> Iterator[tuple[str, Scorer, Places, float]]:
    """Yield name, publisher's code, fields of the answers of a set, and the chance of an answer."""
    yield "MVP", mvp(folder), PAIR, 1 / 2
    yield "TimeBlind", timeblind(folder), INSTANCE, 1 / 2
    yield "Vinoground", vinoground(folder), PARTS, 1 / 2
    for structure in ("consistency", *CHAINS):
        places = [{"structure": structure, "place": str(at)} for at in range(4)]
        yield f"Video-MME-v2 {structure}", video_mme_v2(folder, structure), places, 1 / 8


def ours(sets: Sequence[tuple[int, ...]], places: Places, chance: float) -> dict[str, Any]:
    rows = [
        {"id": f"{n}-{at}", "set": str(n), "correct": right, "options": round(1 / chance), **place}
        for n, own in enumerate(sets)
        for at, (right, place) in enumerate(zip(own, places, strict=True))
    ]
    result: dict[str, Any] = metrics.sets(rows)["overall"]
    return result


def expected(outcomes: dict[tuple[int, ...], Scores], probability: float) -> Scores:
    """Return the mean of the publisher's scores over all outcomes of one set."""
    total: Scores = {}
    for outcome, scores in outcomes.items():
        weight = prod(probability if right else 1 - probability for right in outcome)
        for name, value in scores.items():
            total[name] = total.get(name, 0.0) + weight * value
    return total


def main(folder: Path) -> int:
    draw = np.random.default_rng(SEED)
    worst = 0.0
    print("| publisher's code | value | theirs | ours | chance | luck |\n|---|---|--:|--:|--:|--:|")
    for title, score, places, chance in cases(folder):
        rights = draw.random((N_SETS, len(places))) < draw.random((N_SETS, 1))
        sets = [tuple(row) for row in rights.astype(int).tolist()]
        found, theirs = ours(sets, places, chance), score(sets)
        outcomes = {outcome: score([outcome]) for outcome in product((1, 0), repeat=len(places))}
        guessed, lucky = (expected(outcomes, one) for one in (chance, found["accuracy"]))
        for name, value in theirs.items():
            own = (found[name], found["chance"][name], found["luck"][name])
            other = (value, guessed[name], lucky[name])
            worst = max(worst, *(abs(one - two) for one, two in zip(own, other, strict=True)))
            print(f"| {title} | {name} | " + " | ".join(f"{one:.12f}" for one in (value, *own)) + " |", flush=True)
    print(f"largest difference: {worst:.1e}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
