"""Make the eight contrast sets, let simulated people validate them, score models (contrast sets, Sec. D).

The sources have the files of MSR-VTT and LSMDC by their published names (`FILES`), and the clips in `msrvtt_clips` and
`lsmdc_clips`. The people, and all judgements, are simulated and marked so. docs/papers/contrast-sets.md has the steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from annotation.choices.actions.compose_choices import Request, compose_choices
from annotation.models import Choice, Stage, Vote, VoteState
from evaluation.analyses import proximity as proximity_analysis
from evaluation.analyses.scored_items import ScoredItems
from evaluation.metrics import retrieval
from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import release_analysis, scored_facts
from evaluation.scoring.human_baseline import human_line
from evaluation.scoring.models import Run
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_results import axes_of
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.models import Caption, Item, Release, ReleaseItem, Split, Subtest
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.media.frames import sample_frames
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import done, new_project, score
from foilworks.site.reproduction.simulated_work import People
from foilworks.site.reproduction.tiny_models import write_encoder, write_t5
from foilworks.site.reproduction.trained_models import train_both
from generation.actions.runs import start_run, start_tuning
from generation.recipes import find_recipe
from generation.run_request import FoilRequest

MSRVTT, LSMDC = "msrvtt", "lsmdc"
TITLES = {MSRVTT: "MSR-VTT", LSMDC: "LSMDC-IDs"}
RANDOM, VERB_LM, VERB_H, LIST = "Random", "VerbLM", "VerbH", "list"
HUMAN, SENT_BERT = "Human", "SentBERT"
# Published names: captions, and the multiple-choice list or the characters.
FILES = {
    MSRVTT: ("MSRVTT_data.json", "msrvtt_mc_test.jsonl"),
    LSMDC: ("LSMDC16_annos_training.csv", "characters.tsv"),
}
CLIPS = "{}_clips"
# The sets with hard foils by rule, and their recipes.
BY_RULE = {MSRVTT: ("Gender", "contrast-gender"), LSMDC: ("ID", "contrast-identity")}
# Items per set in the paper (contrast sets, Secs. D.1 and D.2).
PAPER = {
    MSRVTT: {RANDOM: 2990, "Gender": 2477, VERB_LM: 2554, VERB_H: 2554},
    LSMDC: {RANDOM: 7010, "ID": 7010, VERB_LM: 7010, VERB_H: 3500},
}
ALONE, PROJECT = "{name} alone", "Contrast sets on {}"
REASON = "a source of composed items"
SIMULATED = "the people are simulated"
PROBLEM, LEFT_OUT, NO_FILTER = (
    "{}: {}",
    "{} {}: {} items; left out: {}",
    "{}: the filter {} has no model and was left out",
)


@dataclass(frozen=True)
class Options:
    """What to make.

    `sizes`: max items per set; without one, all. `t5`, `lm`, `sentence`, `vectors`: models of VerbLM and its filters; a
    filter without its model is left out, and without `t5`, one of random weights is tuned. `encoders`: {name: sentence
    encoder} for proximity; without one, SentBERT has random weights. `models`: {name: spec} to
    score; without them, two small models are trained, which have the names of `taught`.
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
    models: Mapping[str, str] = field(default_factory=dict)
    taught: Mapping[str, str] = field(default_factory=dict)


class DataSet:
    """The project of one data set, from its files to the results."""

    def __init__(self, slug: str, folder: Path, work: Path, options: Options) -> None:
        self.slug, self.folder, self.work, self.options = slug, folder, work, options
        self.notes: list[str] = []
        self.project = new_project(f"contrast-sets-{slug}", PROJECT.format(TITLES[slug]), is_simulated=True)
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
        for name, spec in (self.options.models or self._train_models()).items():
            # The ladder of one model shows what the sets need.
            runs[spec] = score(release, spec, name, controls=not runs)
        self.release = release
        return self._measurements(release, runs)

    def _subtest(self, name: str, foils: int, votes: int) -> Subtest:
        rules = {"foils_per_item": foils, "votes_wanted": votes, "votes_needed": votes // 2 + (votes > 0)}
        return create_subtest(self.people.owner, self.project, name=name, **rules)

    def _import(self, kind: str, name: str, **params: Any) -> None:
        media = self.folder / CLIPS.format(self.slug)
        result = import_records(
            self.project, None, kind, self.folder / name, media_dir=media if media.is_dir() else None, params=params
        )
        self.notes += [PROBLEM.format(name, problem) for problem in result.errors]

    def _import_files(self) -> None:
        captions, choices = FILES[self.slug]
        if self.slug == LSMDC:
            self._import(LSMDC, captions, splits="within_movies", seed=self.options.seed)
            return
        self._subtest(LIST, 4, 0)
        # First: captions keep the key of the file that brings them.
        self._import(MSRVTT, choices, subtest=LIST)
        self._import(MSRVTT, captions)

    def _run(self, name: str, foils: int, recipe: str, votes: int = 3, **changed: Any) -> str:
        """Run a recipe into a subtest of its own; return it as a source. Candidates stay in its queue."""
        plan = find_recipe(recipe)
        filters = changed.pop("filters", plan.filters)
        limit = changed.pop("limit", None)
        run = start_run(
            None,
            self.project,
            FoilRequest(
                subtest=self._subtest(ALONE.format(name=name), foils, votes),
                method=plan.method,
                recipe=f"{recipe}@{plan.version}",
                params={**plan.params, **changed},
                filters=filters,
                seed=self.options.seed,
                selection={**self.selection, **({"limit": limit} if limit else {})},
            ),
        )
        done(run.job)
        return f"run:{run.pk}"

    def _compose(self, people: str) -> None:
        """Compose the four sets; `people` is the source of VerbH."""
        random = LIST if self.slug == MSRVTT else self._run(RANDOM, 4, "contrast-random")
        hard = {RANDOM: "", self.by_rule: self._run(self.by_rule, 1, self.recipe), VERB_LM: self._verb_lm()}
        for name, source in {**hard, VERB_H: people}.items():
            request = Request(random, source, self.options.seed, self._size(name), unreviewed=True)
            outcome = compose_choices(None, self.sets[name], request)
            reasons = ", ".join(f"{why}: {n}" for why, n in outcome["left_out"].items())
            self.notes.append(LEFT_OUT.format(TITLES[self.slug], name, outcome["composed"], reasons or "none"))
        for source in Subtest.objects.filter(project=self.project, votes_wanted=0):
            self.people.retract(source, REASON)

    def _size(self, name: str) -> int | None:
        return self.options.sizes.get(self.slug, {}).get(name)

    def _verb_lm(self) -> str:
        """Tune the T5 on the train captions and fill the verbs; filters without a model are left out."""
        options = self.options
        start = options.t5 or write_t5(self.work / "tiny-t5" / self.slug, self._words())
        tuning = start_tuning(None, self.project, params={"model": start, **options.tuning}, seed=options.seed)
        done(tuning.job)
        tuning.refresh_from_db()
        filters = dict(find_recipe("contrast-verb-lm").filters)
        meaning = {"model": options.sentence, "vectors": options.vectors}
        filter_params = {
            "frequency": {"more_than": options.more_than},
            "perplexity": {"model": options.lm} if options.lm else None,
            "meaning": meaning if all(meaning.values()) else None,
        }
        for name, params in filter_params.items():
            if params is None:
                self.notes.append(NO_FILTER.format(TITLES[self.slug], name))
                filters.pop(name)
            else:
                filters[name] = {**filters[name], **params}
        return self._run(VERB_LM, 1, "contrast-verb-lm", model=str(tuning.path), filters=filters, **options.decoding)

    def _words(self) -> list[str]:
        """Return the words of all captions, for models of random weights."""
        texts = Caption.objects.filter(video__project=self.project).values_list("text", flat=True)
        return sorted({word for text in texts for word in text.lower().split()})

    def _train_models(self) -> dict[str, str]:
        folder = self.work / "taught" / self.project.slug
        specs = train_both(self.project, folder, epochs=self.options.epochs, seed=self.options.seed)
        return {self.options.taught.get(name, name): spec for name, spec in specs.items()}

    def _measurements(self, release: Release, runs: Mapping[str, Run]) -> dict[str, Any]:
        measurements: dict[str, Any] = {"data set": self.slug, "title": TITLES[self.slug], "sets": {}, "models": {}}
        for spec, run in runs.items():
            subtests = run_results(run)["subtests"]
            measurements["sets"] = {name: subtests[name]["n"] for name in self.sets}
            accuracy = {name: subtests[name]["T"] for name in self.sets}
            measurements["models"][run.label] = {"R@1": self._recall(spec, release), "accuracy": accuracy}
        measurements["human"] = self._human(release)
        if self.slug == LSMDC:
            measurements["identities"] = _identities(release)
        else:
            measurements["proximity"] = self._proximity(release)
        return measurements

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
        metas = [VideoMeta(key) for key in captions]
        sims = model.score(model.encode_video(clips, metas), model.encode_text(list(captions.values())))
        return retrieval.compute(np.asarray(sims).T)["v2t"]["R@1"]

    def _human(self, release: Release) -> dict[str, Any]:
        axes = axes_of(release)
        lines = {name: human_line(release, axes, f"subtest:{name}") for name in (VERB_LM, VERB_H)}
        votes = Vote.objects.filter(item__released_as__release=release)
        simulated = not votes.exclude(person__is_simulated=True).exists()
        majority = {name: line["majority"] for name, line in lines.items() if line}
        return {"simulated": simulated, "majority": majority, "n": {name: line["n"] for name, line in lines.items()}}

    def _proximity(self, release: Release) -> dict[str, Any]:
        tiny = {} if self.options.encoders else {SENT_BERT: write_encoder(self.work / "tiny-encoder", self._words())}
        encoders = {**self.options.encoders, **tiny}
        return accuracy_by_proximity(self.project, release, self.sets[VERB_LM], encoders, {HUMAN: _choice_scores})


def accuracy_by_proximity(
    project: Project,
    release: Release,
    subtest: Subtest,
    encoders: Mapping[str, str],
    people: Mapping[str, Callable[[Release, ScoredItems], np.ndarray]],
) -> dict[str, Any]:
    """Measure each encoder; return model -> group -> accuracy of the scored models and of `people`, by name."""
    for name, encoder in encoders.items():
        done(measure_proximity(None, release, encoder, name=name, device="cpu").job)
    items = scored_facts(project, subtest)
    models = {**items.models, **{name: scores_of(release, items) for name, scores_of in people.items()}}
    accuracy_by_model: dict[str, Any] = {}
    for row in proximity_analysis.compute(replace(items, models=models))["rows"]:
        accuracy_by_model.setdefault(row["model"], {})[row["group"]] = row["accuracy"]
    return accuracy_by_model


def _identities(release: Release) -> dict[str, Any]:
    analysis = release_analysis(release, "identity")
    accuracy_by_model: dict[str, Any] = {}
    for row in analysis["rows"]:
        accuracy_by_model.setdefault(row["model"], {})[row["group"]] = row["accuracy"]
    for row in analysis["differences"]:
        accuracy_by_model[row["model"]]["difference"] = row["difference"]
    return accuracy_by_model


def _choice_scores(release: Release, items: ScoredItems) -> np.ndarray:
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
