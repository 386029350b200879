"""Make the eight contrast sets, let simulated people validate them, score two models, print the paper's tables.

    FOILWORKS_HOME=/tmp/sets .venv/bin/python docs/examples/contrast_sets/run.py FOLDER [--sizes paper] [--json OUT]

FOLDER has the files of MSR-VTT and LSMDC in their published form:

- msrvtt.json (videos and sentences), msrvtt_mc.jsonl (the multiple-choice list), msrvtt_clips/
- lsmdc.tsv (the annotations of all movies in one file), characters.tsv, lsmdc_clips/

If FOLDER does not exist, small stand-ins are written: drawn clips, and a T5 and a sentence encoder with random weights.
The people, and all judgements, are simulated and marked so. docs/papers/contrast-sets.md describes each step.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2])]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.settings")

import django  # noqa: E402 (the folders must be on the path first)
from django.apps import apps  # noqa: E402

if not apps.ready:
    django.setup()

import numpy as np  # noqa: E402
import stand_ins  # noqa: E402
import tables  # noqa: E402
from django.core.management import call_command  # noqa: E402
from people import People  # noqa: E402
from taught import train_both  # noqa: E402

from annotation.choices.actions.compose_choices import Request, compose_choices  # noqa: E402
from annotation.models import Choice, Stage, Vote, VoteState  # noqa: E402
from corpus.actions.create_subtest import create_subtest  # noqa: E402
from corpus.models import Caption, Item, Release, ReleaseItem, Split, Subtest  # noqa: E402
from corpus.video_files.stored_files import clip_file  # noqa: E402
from evaluation.analyses import proximity as proximity_analysis  # noqa: E402
from evaluation.analyses.scored import ScoredItems  # noqa: E402
from evaluation.imports.store import import_records  # noqa: E402
from evaluation.metrics import retrieval  # noqa: E402
from evaluation.proximity.actions.measure_proximity import measure_proximity  # noqa: E402
from evaluation.releases.actions.freeze_release import freeze_release  # noqa: E402
from evaluation.reports.reports import release_analysis, scored_facts  # noqa: E402
from evaluation.scoring.actions.start_run import start_run as start_scoring  # noqa: E402
from evaluation.scoring.human_baseline import human_line  # noqa: E402
from evaluation.scoring.models import Run  # noqa: E402
from evaluation.scoring.queries import run_results  # noqa: E402
from evaluation.scoring.run_results import axes_of  # noqa: E402
from generation.actions.runs import start_run, start_tuning  # noqa: E402
from generation.recipes import find_recipe  # noqa: E402
from hub.adapters.registry import open_adapter  # noqa: E402
from hub.interfaces import VideoMeta  # noqa: E402
from jobs.models import Job, JobState  # noqa: E402
from jobs.runner import run_now  # noqa: E402
from media.frames import sample_frames  # noqa: E402
from projects.actions.creation import create_project_by_operator  # noqa: E402

MSRVTT, LSMDC = "msrvtt", "lsmdc"
TITLES = {MSRVTT: "MSR-VTT", LSMDC: "LSMDC-IDs"}
RANDOM, VERB_LM, VERB_H, LIST = "Random", "VerbLM", "VerbH", "list"
# The sets with hard foils by rule, and their recipes.
BY_RULE = {MSRVTT: ("Gender", "contrast-gender"), LSMDC: ("ID", "contrast-identity")}
# Items per set in the paper (contrast sets, Secs. D.1 and D.2).
PAPER = {
    MSRVTT: {RANDOM: 2990, "Gender": 2477, VERB_LM: 2554, VERB_H: 2554},
    LSMDC: {RANDOM: 7010, "ID": 7010, VERB_LM: 7010, VERB_H: 3500},
}
ALONE = "{name} alone"
REASON = "a source of composed items"
SIMULATED = "the people are simulated"


@dataclass(frozen=True)
class Options:
    """What to make.

    `sizes`: max items per set; without one, all. `t5`, `lm`, `sentence`, `vectors`: models of VerbLM and its filters; a
    filter without its model is left out. `encoders`: {name: sentence encoder} for proximity. `models`: specs to
    score; without them, two small models are trained.
    """

    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    seed: int = 0
    votes: int = 3
    mistakes: float = 0.05
    epochs: int = 30
    tuning: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    more_than: int = 30
    t5: str = ""
    lm: str = ""
    sentence: str = ""
    vectors: str = ""
    encoders: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[str] = ()


class DataSet:
    """The project of one data set, from its files to the results."""

    def __init__(self, slug: str, folder: Path, options: Options) -> None:
        self.slug, self.folder, self.options = slug, folder, options
        self.project = create_project_by_operator(f"contrast-sets-{slug}", f"Contrast sets on {TITLES[slug]}")
        self.project.is_simulated = True
        # One person judges several versions of an item.
        self.project.judge_caption_once = False
        self.project.save()
        self.people = People(self.project, options.seed, options.mistakes, options.votes)
        self.by_rule, self.recipe = BY_RULE[slug]
        self.sets = {name: self._subtest(name, 4, options.votes) for name in (RANDOM, self.by_rule, VERB_LM, VERB_H)}
        # Captions of LSMDC are chosen by split; of MSR-VTT, those of the list.
        self.selection = {"split": "test"} if slug == LSMDC else {"key_prefix": f"{LIST}:"}

    def results(self) -> dict[str, Any]:
        """Make, validate and score the sets; return the tables' numbers."""
        self._import_files()
        # People first: later, machine-made foils wait in the queues of editors too.
        people = self._run(VERB_H, 1, "contrast-verb-person", votes=0, limit=self._size(VERB_H))
        train = Caption.objects.filter(video__project=self.project, video__split=Split.TRAIN)
        self.people.write_verbs(train.values_list("text", flat=True))
        self._compose(people)
        self.people.validate()
        release = freeze_release(self.people.owner, self.project, override=SIMULATED)
        self.people.choose(release, [self.sets[VERB_LM], self.sets[VERB_H]])
        runs = {}
        for spec in self.options.models or self._taught().values():
            run = start_scoring(None, release, spec, device="cpu")
            done(run.job)
            runs[spec] = Run.objects.get(pk=run.pk)
        return self._measured(release, runs)

    def _subtest(self, name: str, foils: int, votes: int) -> Subtest:
        rules = {"foils_per_item": foils, "votes_wanted": votes, "votes_needed": votes // 2 + (votes > 0)}
        return create_subtest(self.people.owner, self.project, name=name, **rules)

    def _import(self, kind: str, name: str, **params: Any) -> None:
        media = self.folder / f"{self.slug}_clips"
        result = import_records(
            self.project, None, kind, self.folder / name, media_dir=media if media.is_dir() else None, params=params
        )
        for problem in result.errors:
            print(f"{name}: {problem}", file=sys.stderr)

    def _import_files(self) -> None:
        if self.slug == LSMDC:
            self._import(LSMDC, "lsmdc.tsv", splits="within_movies", seed=self.options.seed)
            return
        self._subtest(LIST, 4, 0)
        # First: captions keep the key of the file that brings them.
        self._import(MSRVTT, "msrvtt_mc.jsonl", subtest=LIST)
        self._import(MSRVTT, "msrvtt.json")

    def _run(self, name: str, foils: int, recipe: str, votes: int = 3, **changed: Any) -> str:
        """Run a recipe into a subtest of its own; return it as a source. Candidates stay in its queue."""
        plan = find_recipe(recipe)
        filters = changed.pop("filters", plan.filters)
        limit = changed.pop("limit", None)
        run = start_run(
            None,
            self.project,
            subtest=self._subtest(ALONE.format(name=name), foils, votes),
            method=plan.method,
            recipe=f"{recipe}@{plan.version}",
            params={**plan.params, **changed},
            filters=filters,
            seed=self.options.seed,
            selection={**self.selection, **({"limit": limit} if limit else {})},
        )
        done(run.job)
        return f"run:{run.pk}"

    def _compose(self, people: str) -> None:
        """Compose the four sets; `people` is the source of VerbH."""
        random = LIST if self.slug == MSRVTT else self._run(RANDOM, 4, "contrast-random")
        hard = {RANDOM: "", self.by_rule: self._run(self.by_rule, 1, self.recipe), VERB_LM: self._verb_lm()}
        for name, source in {**hard, VERB_H: people}.items():
            wanted = Request(random, source, self.options.seed, self._size(name), unreviewed=True)
            found = compose_choices(None, self.sets[name], wanted)
            left = ", ".join(f"{why}: {n}" for why, n in found["left_out"].items())
            print(f"{TITLES[self.slug]} {name}: {found['composed']} items; left out: {left or 'none'}", file=sys.stderr)
        for source in Subtest.objects.filter(project=self.project, votes_wanted=0):
            self.people.retract(source, REASON)

    def _size(self, name: str) -> int | None:
        return self.options.sizes.get(self.slug, {}).get(name)

    def _verb_lm(self) -> str:
        """Tune the T5 on the train captions and fill the verbs; filters without a model are left out."""
        asked = self.options
        tuning = start_tuning(None, self.project, params={"model": asked.t5, **asked.tuning}, seed=asked.seed)
        done(tuning.job)
        tuning.refresh_from_db()
        filters = dict(find_recipe("contrast-verb-lm").filters)
        meaning = {"model": asked.sentence, "vectors": asked.vectors}
        given = {
            "frequency": {"more_than": asked.more_than},
            "perplexity": {"model": asked.lm} if asked.lm else None,
            "meaning": meaning if all(meaning.values()) else None,
        }
        for name, params in given.items():
            if params is None:
                print(f"{TITLES[self.slug]}: the filter {name} has no model and is left out", file=sys.stderr)
                filters.pop(name)
            else:
                filters[name] = {**filters[name], **params}
        return self._run(VERB_LM, 1, "contrast-verb-lm", model=str(tuning.path), filters=filters, **asked.decoding)

    def _taught(self) -> dict[str, str]:
        folder = self.folder / "taught" / self.project.slug
        return train_both(self.project, folder, epochs=self.options.epochs, seed=self.options.seed)

    def _measured(self, release: Release, runs: Mapping[str, Run]) -> dict[str, Any]:
        found: dict[str, Any] = {"data set": self.slug, "title": TITLES[self.slug], "sets": {}, "models": {}}
        for spec, run in runs.items():
            subtests = run_results(run)["subtests"]
            found["sets"] = {name: subtests[name]["n"] for name in self.sets}
            accuracy = {name: subtests[name]["T"] for name in self.sets}
            found["models"][run.label] = {"R@1": self._recall(spec, release), "accuracy": accuracy}
        found["human"] = self._human(release)
        if self.slug == LSMDC:
            found["identities"] = _identities(release)
        else:
            found["proximity"] = self._proximity(release)
        return found

    def _recall(self, spec: str, release: Release) -> float | None:
        """Compute video-to-text R@1 over the clips of the Random set; None if the model is no dual encoder."""
        model = open_adapter(spec, device="cpu")
        if not hasattr(model, "encode_video"):
            return None
        items = Item.objects.filter(released_as__release=release, subtest=self.sets[RANDOM]).select_related("video")
        captions = dict(items.order_by("key").values_list("video__key", "caption__text"))
        videos = {item.video.key: item.video for item in items}
        clips = [
            sample_frames(Path(clip_file(videos[key])), model.info.frames, size=model.info.size).frames
            for key in captions
        ]
        about = [VideoMeta(key) for key in captions]
        sims = model.score(model.encode_video(clips, about), model.encode_text(list(captions.values())))
        return retrieval.compute(np.asarray(sims).T)["v2t"]["R@1"]

    def _human(self, release: Release) -> dict[str, Any]:
        axes = axes_of(release)
        lines = {name: human_line(release, axes, f"subtest:{name}") for name in (VERB_LM, VERB_H)}
        votes = Vote.objects.filter(item__released_as__release=release)
        simulated = not votes.exclude(person__is_simulated=True).exists()
        majority = {name: line["majority"] for name, line in lines.items() if line}
        return {"simulated": simulated, "majority": majority, "n": {name: line["n"] for name, line in lines.items()}}

    def _proximity(self, release: Release) -> dict[str, Any]:
        for name, encoder in self.options.encoders.items():
            done(measure_proximity(None, release, encoder, name=name, device="cpu").job)
        items = scored_facts(self.project, self.sets[VERB_LM])
        models = {**items.models, tables.HUMAN: _chosen(release, items)}
        rows = proximity_analysis.compute(replace(items, models=models))
        found: dict[str, Any] = {}
        for row in rows["rows"]:
            found.setdefault(row["model"], {})[row["group"]] = row["accuracy"]
        return found


def done(job: Job | None) -> None:
    """Run a queued job in this process. RuntimeError: it failed."""
    assert job is not None  # it was just queued
    ran = run_now(job)
    if ran.state != JobState.DONE:
        raise RuntimeError(f"{ran.title}: {ran.error}")


def _identities(release: Release) -> dict[str, Any]:
    analysis = release_analysis(release, "identity")
    found: dict[str, Any] = {}
    for row in analysis["rows"]:
        found.setdefault(row["model"], {})[row["group"]] = row["accuracy"]
    for row in analysis["differences"]:
        found[row["model"]]["difference"] = row["difference"]
    return found


def _chosen(release: Release, items: ScoredItems) -> np.ndarray:
    """Return the choices as scores, (n, 5): 1 for the caption if most people chose it, else for a foil."""
    width = max(table.shape[1] for table in items.models.values())
    scores = np.full((len(items.ids), width), np.nan)
    names = dict(ReleaseItem.objects.filter(release=release).values_list("item", "record__id"))
    votes: dict[str, list[bool]] = {}
    rows = Vote.objects.filter(stage=Stage.BASELINE, state=VoteState.COUNTED, item__in=names)
    for item, choice in rows.values_list("item", "choice"):
        votes.setdefault(names[item], []).append(choice == Choice.CAPTION)
    for at, name in enumerate(items.ids):
        if name in votes:
            scores[at] = 0.0
            scores[at, 0 if 2 * sum(votes[name]) > len(votes[name]) else 1] = 1.0
    return scores


def make(folder: Path, options: Options) -> dict[str, Any]:
    """Return the results of both data sets."""
    return {slug: DataSet(slug, folder, options).results() for slug in (MSRVTT, LSMDC)}


def write_stand_ins(folder: Path, *, train: int, test: int, movies: int, clips: int, seed: int) -> dict[str, str]:
    """Write the files of both data sets and the models; return the models."""
    folder.mkdir(parents=True)
    stand_ins.write_msrvtt(folder, train, test, seed)
    stand_ins.write_lsmdc(folder, movies, clips, seed)
    return stand_ins.write_models(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the files; if it does not exist, stand-ins are written")
    parser.add_argument("--sizes", choices=("all", "paper"), default="all", help="paper: at most as many items")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--votes", type=int, default=3, help="votes per caption-foil pair")
    parser.add_argument("--mistakes", type=float, default=0.05, help="share of wrong answers of each person")
    parser.add_argument("--test", type=int, default=60, help="stand-ins: test clips of each data set")
    parser.add_argument("--more-than", type=int, help="VerbLM: min train captions of a verb (paper: 30)")
    for name, what in (("t5", "T5 to tune"), ("lm", "GPT2-XL"), ("sentence", "sentence encoder of the filter")):
        parser.add_argument(f"--{name}", default="", help=f"{what}: Hugging Face ID or folder")
    parser.add_argument("--vectors", default="", help="counter-fitted word vectors of the filter")
    parser.add_argument(
        "--encoder",
        action="append",
        default=[],
        metavar="NAME=MODEL",
        help="for proximity; repeatable",
    )
    parser.add_argument("--model", action="append", default=[], metavar="SPEC", help="model to score; repeatable")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file for the results as JSON")
    asked = parser.parse_args(arguments)
    call_command("migrate", verbosity=0)
    options = Options(sizes=PAPER if asked.sizes == "paper" else {}, seed=asked.seed, votes=asked.votes)
    options = replace(options, mistakes=asked.mistakes, lm=asked.lm, sentence=asked.sentence, vectors=asked.vectors)
    written: dict[str, str] = {}
    if not asked.folder.exists():
        movies = max(1, asked.test // 30)
        sizes = {"train": 2 * asked.test, "test": asked.test, "movies": movies, "clips": 10 * asked.test // movies}
        written = write_stand_ins(asked.folder, **sizes, seed=asked.seed)
        # A model without training needs more steps, and a small corpus has rarer verbs.
        tuning = {"epochs": 20, "batch": 16, "learning_rate": 8e-3, "verb_share": 0.8}
        options = replace(options, tuning=tuning, more_than=3)
    encoders = dict(pair.split("=", 1) for pair in asked.encoder)
    options = replace(
        options,
        t5=asked.t5 or written.get("t5", "google-t5/t5-base"),
        encoders=encoders or {"random weights": written["encoder"]} if written else encoders,
        more_than=asked.more_than or options.more_than,
        models=asked.model,
    )
    results = make(asked.folder, options)
    print(tables.show(results))
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
