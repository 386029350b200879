"""`every-eval-ever`: results of the models of a release, as Every Eval Ever 0.3 stores them.

`data/BENCHMARK/DEVELOPER/MODEL/UUID.json` has the results of one model under one protocol, `UUID_samples.jsonl` its
answer to each item. `DEVELOPER/MODEL` is the label of the run if it has that form, else the model's id on the hub, else
`local/LABEL`. An answer is the text with the highest score, and `metadata.scores` has those of all choices.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.choices import QUESTION, choice_of
from foilworks.core.corpus.export_formats.parts.folder import safe_name, write_folder, write_json, write_lines
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, manifest_facts, released_items
from foilworks.core.corpus.records import WINNER, ReleaseContent, ReleaseScore
from foilworks.core.text.model_answers import LETTERS
from foilworks.version import __version__

# It needs a release, with the results of its models as the table `models`.
TAKES_RECORDS, USES_MODELS = False, True
SCHEMA_VERSION = "0.3.0"
LOCAL = "local"
# Names that the validator refuses: placeholders and devices of Windows.
RESERVED = frozenset({"unknown", "data", "con", "prn", "aux", "nul"})
HUB_ID = re.compile(r"([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?:@.*)?")
# Result of the run -> name of the evaluation, id and name of its metric. The samples count for the first one.
ACCURACY = ("accuracy", "accuracy", "Accuracy")
PAIRED = {
    "T": ("with_proficiency", "accuracy", "Accuracy of items with a proficiency item"),
    "P": ("proficiency", "accuracy", "Accuracy of proficiency items"),
    "P+T": ("item_and_proficiency", "foilworks.p_and_t", "Both the item and its proficiency item are right"),
}
TWO_CLIPS = {
    "text": ("two_clips_text", "winoground.text", "Text score of pairs of two clips"),
    "video": ("two_clips_video", "winoground.video", "Video score of pairs of two clips"),
    "group": ("two_clips_group", "winoground.group", "Group score of pairs of two clips"),
}
SETS = {
    "question": ("sets_question", "foilworks.sets.question", "Answers to a question right on all clips of its set"),
    "clip": ("sets_clip", "foilworks.sets.clip", "Answers about a clip right for all questions of its set"),
    "text": ("sets_text", "foilworks.sets.text", "Text score of sets of answers"),
    "video": ("sets_video", "foilworks.sets.video", "Video score of sets of answers"),
    "group": ("sets_group", "foilworks.sets.group", "All answers of a set right"),
    "score": ("sets_score", "foilworks.sets.score", "Group score of Video-MME-v2"),
}
INTERVAL = "bootstrap over videos"
README = """# {name}: results for Every Eval Ever

Results of {n} models on the release `{release}`, content hash `{content_hash}`, with the answer to each item.
{canary}
To check the files, and before you submit them:

```
pip install every-eval-ever
every_eval_ever validate data/*/*/*/*.json*
```
"""
Row = Mapping[str, Any]


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no model was scored, or it cannot be written."""
    models = {(row["model_key"], row["protocol"]): row for row in release.tables.get("models", ()) if row["overall"]}
    if not models:
        raise CorpusError(f"{release.release}: has no scores of models; score a model on it first")
    choices = {item.id: choice_of(item) for item in released_items(release) if item.foils}
    collection = _component(release.project)

    def fill(folder: Path) -> None:
        for key, scores in groupby(release.scores, lambda score: (score.model_key, score.protocol)):
            if key in models:
                _write_model(folder, release, models[key], list(scores), choices, collection, params)
        readme = README.format(
            name=release.project,
            n=len(models),
            release=release.release,
            content_hash=release.content_hash,
            canary=canary_line(release),
        )
        (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")

    return write_folder(out, manifest_facts(release, "every-eval-ever", len(choices)), fill)


def _write_model(
    folder: Path,
    release: ReleaseContent,
    model: Row,
    scores: Sequence[ReleaseScore],
    choices: Mapping[str, Row],
    collection: str,
    params: Mapping[str, Any],
) -> None:
    model_id = _model_id(model)
    stamp = f"{datetime.fromisoformat(model['scored_at']).timestamp():.0f}"
    evaluation = f"{collection}/{model_id.replace('/', '_')}/{stamp}"
    digest = hashlib.sha256(f"{evaluation}\0{release.content_hash}\0{model['model_key']}\0{model['protocol']}".encode())
    name = uuid.UUID(bytes=digest.digest()[:16], version=4)
    place = f"data/{collection}/{model_id}"
    # A model that was scored under two protocols has one folder.
    (folder / place).mkdir(parents=True, exist_ok=True)
    own = {"schema_version": SCHEMA_VERSION, "evaluation_id": evaluation}
    lines = [
        {**own, "model_id": model_id, **_sample(score, choices[score.id], model, collection)}
        for score in scores
        if score.id in choices
    ]
    samples = f"{place}/{name}_samples.jsonl"
    write_lines(folder / samples, lines)
    write_json(
        folder / place / f"{name}.json",
        {
            **own,
            "evaluation_timestamp": stamp,
            "retrieved_timestamp": stamp,
            **_facts(model, model_id, params.get("organization") or release.project, params),
            "evaluation_results": list(_results(release, model, collection)),
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": samples,
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256((folder / samples).read_bytes()).hexdigest(),
                "total_rows": len(lines),
            },
        },
    )


def _component(text: str) -> str:
    """Return a name of a folder that the data store accepts."""
    name = safe_name(text)
    return f"_{name}" if name.lower().split(".")[0] in RESERVED else name


def _model_id(model: Row) -> str:
    """Return DEVELOPER/MODEL."""
    match = HUB_ID.fullmatch(model["model"]) or HUB_ID.fullmatch(model["model_key"])
    developer, _slash, name = match[1].partition("/") if match else (LOCAL, "/", model["model"])
    return f"{_component(developer)}/{_component(name)}"


def _facts(model: Row, model_id: str, organization: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return who ran what: the fields of the record that are not results."""
    harness = model.get("harness") or {}
    loaded_here = not harness and "served" not in model and HUB_ID.fullmatch(model["model_key"])
    details = {"protocol": model["protocol"], "model_key": model["model_key"], **model["card"]}
    return {
        "source_metadata": {
            "source_name": "Foilworks",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": params.get("relationship", "other"),
        },
        "eval_library": {
            "name": harness.get("harness", "foilworks"),
            "version": harness.get("version", "unknown") if harness else __version__,
        },
        "model_info": {
            "name": model["model"],
            "id": model_id,
            "developer": model_id.partition("/")[0],
            "additional_details": {
                "deployment_type": "self_deployed" if loaded_here else "unknown",
                "model_availability": "open_weights" if loaded_here else "unknown",
                **{name: str(value) for name, value in details.items() if value},
            },
        },
    }


def _results(release: ReleaseContent, model: Row, collection: str) -> Iterator[dict[str, Any]]:
    """Yield the results of the run: accuracy in all and by subtest, of proficiency items, of pairs of two clips."""
    source: dict[str, Any] = {"dataset_name": release.project, "source_type": "other"}
    if release.papers.citation.url:
        source |= {"source_type": "url", "url": [release.papers.citation.url]}
    facts = {"release": release.release, "content_hash": release.content_hash}
    source["additional_details"] = {name: value for name, value in facts.items() if value}
    overall = model["overall"]
    clips, of_sets = ((model.get(kind) or {}).get("overall") or {} for kind in ("two_clips", "sets"))
    rows = [(collection, ACCURACY, _accuracy(overall))]
    rows += [(f"{collection}.{subtest}", ACCURACY, _accuracy(row)) for subtest, row in model["subtests"].items()]
    if overall.get("P") is not None:
        rows += [(f"{collection}.{metric[0]}", metric, _value(overall, name)) for name, metric in PAIRED.items()]
    for metrics, found in ((TWO_CLIPS, clips), (SETS, {**of_sets, "n": of_sets.get("n_sets")})):
        rows += [(f"{collection}.{metric[0]}", metric, _value(found, name)) for name, metric in metrics.items()]
    for name, (_name, metric_id, metric_name), score in rows:
        if score is None:
            continue
        yield {
            "evaluation_result_id": f"{name}:{metric_id}",
            "evaluation_name": name,
            "source_data": source,
            "metric_config": {
                "metric_id": metric_id,
                "metric_name": metric_name,
                "metric_kind": "accuracy",
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": score,
            "generation_config": {
                "additional_details": {"protocol": model["protocol"], "tie_policy": model["tie_policy"]}
            },
        }


def _accuracy(row: Row) -> dict[str, Any] | None:
    """Return the share of right items, over all of them: T covers only those with a proficiency item, if some have."""
    if row.get("n_all") in (None, row["n"]):
        return _value(row, "T")
    return {"score": row["T_all"], "uncertainty": {"num_samples": row["n_all"]}}


def _value(row: Row, name: str) -> dict[str, Any] | None:
    if row.get(name) is None:
        return None
    uncertainty: dict[str, Any] = {"num_samples": row["n"]}
    if interval := row.get(f"{name}_ci"):
        bounds = dict(zip(("lower", "upper"), interval, strict=True))
        uncertainty["confidence_interval"] = {**bounds, "confidence_level": 0.95, "method": INTERVAL}
    details = {key: json.dumps(row[key]) for key in ("n_unread", "all_wrong", "ties") if row.get(key)}
    return {"score": row[name], "uncertainty": uncertainty} | ({"details": details} if details else {})


def _sample(score: ReleaseScore, choice: Row, model: Row, collection: str) -> dict[str, Any]:
    """Return the answer to one item, with the fields of a line of samples."""
    options: list[str] = choice["options"]
    place = LETTERS.index(choice["answer"])
    sign = 1 if score.higher_is_better else -1
    values = [sign * value for value in score.foils]
    values.insert(place, sign * score.caption)
    best = max(values)
    tied = [index for index, value in enumerate(values) if value == best]
    credit = _credit(model["tie_policy"], len(tied)) if place in tied else 0.0
    # Which foil won is not known of a wrong answer to more than two choices.
    is_known = score.kind != WINNER or place in tied or len(options) == 2
    answers = [options[place if credit == 1 else tied[0]]] if is_known else []
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=False))
    raw, reference = f"Video: {choice['video']}\n{QUESTION}\n{listed}", [options[place]]
    hashed = json.dumps({"raw": raw, "reference": reference}, sort_keys=True, separators=(",", ":"))
    names = {"subtest": score.subtest, "test": score.test, "video": choice["video"], "cluster": score.cluster}
    result = f"{collection}.{score.subtest}"
    return {
        "evaluation_name": result,
        "evaluation_result_id": f"{result}:{ACCURACY[1]}",
        "sample_id": score.id,
        "sample_hash": hashlib.sha256(hashed.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": reference, "choices": options},
        "output": {"raw": answers},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer,
                "extraction_method": "highest_score",
                "is_terminal": True,
            }
            for answer in answers
        ],
        "evaluation": {"score": credit, "is_correct": credit == 1},
        "metadata": {**{name: text for name, text in names.items() if text}}
        | {"scores": json.dumps(values), "kind": score.kind},
    }


def _credit(policy: str, n_best: int) -> float:
    """Return the credit of the right answer, which is among `n_best` with the highest score (evaluation.metrics.ties).

    `first`: the caption is listed first in a record of scores, so that it wins.
    """
    if n_best == 1 or policy in ("optimistic", "first"):
        return 1.0
    return 1 / n_best if policy == "half" else 0.0
