"""Measure how much each choice of UTD changes cells and splits, and the shares at small train sizes.

    .venv/bin/python benchmarks/utd_rules.py [--folder FOLDER] [--encoder fake-words:] [--small 8 20 40] [--draws 5]

FOLDER contains train.json and test.json in UTD's published form, classes.csv (video,class), and optionally
captions.csv (video,caption). Without it, texts of 12 classes are made up: objects, activities, empty frames. Each
choice is measured with the product on a database of its own. Printed, as Markdown: the largest change of a cell in
points and changed votes of the nine models.

With --small, lists of objects of the same classes are made up instead: 40 train and 10 test videos per class, whose
texts have a mean cosine of .9 under an instruction. Each train size is drawn several times, and nine models are
bootstrapped under one instruction. Printed: accuracies, and the share of object-biased samples as mean and range.
"""

import argparse
import csv
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

CLASSES = {
    "ApplyEyeMakeup": "mirror brush eyeliner mascara palette eyelashes",
    "BasketballDunk": "basketball hoop court backboard jersey net",
    "CliffDiving": "cliff sea rock water splash swimsuit",
    "Knitting": "wool needles yarn scarf lap thread",
    "Billiards": "cue table pocket chalk ball rack",
    "Archery": "bow arrow target quiver field string",
    "Biking": "bicycle helmet road pedal wheel handlebar",
    "Bowling": "lane pins bowling gutter shoes scoreboard",
    "Typing": "keyboard desk monitor fingers mouse screen",
    "Surfing": "wave surfboard ocean wetsuit foam leash",
    "PlayingPiano": "piano keys stool sheet pedals lid",
    "HorseRiding": "horse saddle reins stable paddock rider",
}
COMMON = ["person", "wall", "floor", "man", "woman", "light", "shirt", "window", "hand", "door", "tree", "stroller"]
FRAMES, TESTED, LEARNT = 8, 25, 40
NO_ACTIVITY, UNUSUAL = 0.35, 0.05
TESTED_SMALL, THINGS = 10, 5
# Every n-th list shows another class. A video's share of objects of its class is between these.
OTHER, OWN = 20, (0.1, 0.5)
CLASSIFICATION, RETRIEVAL = "classification", "retrieval"
CHOICES = (
    (CLASSIFICATION, "empty_frames", "sentence"),
    (CLASSIFICATION, "numbering", "paper"),
    (CLASSIFICATION, "texts", "cleaned"),
    (CLASSIFICATION, "bootstrap", "stratified"),
    (CLASSIFICATION, "c", 100.0),
    (CLASSIFICATION, "seed", 1),
    (CLASSIFICATION, "max_reading", "oracle"),
    (RETRIEVAL, "captions", "first"),
    (RETRIEVAL, "ties", "share"),
)
SMALL = (("plain", 1.0), ("stratified", 1.0), ("plain", 100.0))


def annotation(draw: np.random.Generator, name: str) -> dict[str, list[str]]:
    """Make up the texts of a video of a class. A few show the things of another class."""
    seen = name if draw.random() > UNUSUAL else str(draw.choice(list(CLASSES)))
    things = CLASSES[seen].split()
    frames = [[*draw.choice(things, 2), *draw.choice(COMMON, 3)] for _ in range(FRAMES)]
    acts = ["" if draw.random() < NO_ACTIVITY else f"A person is using the {one[0]}." for one in frames]
    return {
        "objects+composition+activities": [f"In the photo, there is a {one[0]} near a {one[2]}." for one in frames],
        "objects": [", ".join(one) + "." * bool(draw.random() > 0.8) for one in frames],
        "activities": acts,
        "verbs": ["Someone is using something." if act else "" for act in acts],
        "objects+composition+activities_15_words": [f"A {one[0]} beside a {one[1]}, {one[3]}." for one in frames],
    }


def made_up(learnt: int, tested: int, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    world: dict[str, Any] = {"train": {}, "test": {}, "classes": {}, "captions": {}}
    for split, n in (("train", learnt), ("test", tested)):
        for name in CLASSES:
            for number in range(n):
                key = f"v_{name}_{split}_{number:03d}"
                world[split][key] = told = annotation(draw, name)
                world["classes"][key] = name
                if split == "test":
                    told = told["objects+composition+activities"]
                    world["captions"][key] = [f"{text} Video {number}" for text in told[: 1 + number % 3]]
    return world


def read(folder: Path) -> dict[str, Any]:
    world: dict[str, Any] = {"classes": {}, "captions": {}}
    for split in ("train", "test"):
        path = folder / f"{split}.json"
        world[split] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in ("classes", "captions"):
        if (path := folder / f"{name}.csv").exists():
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                if name == "classes":
                    world[name][row["video"]] = row["class"]
                else:
                    world[name].setdefault(row["video"], []).append(row["caption"])
    return world


def store(slug: str, world: Mapping[str, Any], folder: Path) -> Any:
    """Create the project and import its descriptions."""
    from evaluation.utd.actions.descriptions import import_descriptions
    from foilworks.core.corpus.models import Caption, Video
    from foilworks.core.projects.models import Project

    project = Project.objects.create(slug=slug, name=slug)
    paths = []
    for split in ("train", "test"):
        for key in world[split]:
            label = world["classes"].get(key, "")
            video = Video.objects.create(
                project=project, key=key, split=split, class_label=label, sha256=key, source_id=key
            )
            for number, text in enumerate(dict.fromkeys(world["captions"].get(key, ()))):
                sha256 = hashlib.sha256(text.encode()).hexdigest()
                Caption.objects.create(video=video, key=f"{key}-{number}", text=text, text_sha256=sha256)
        paths.append(folder / f"{slug}-{split}.json")
        paths[-1].write_text(json.dumps(world[split]), encoding="utf-8")
    return import_descriptions(None, project, [path for path in paths if path.read_text() != "{}"])


def measured(told: Any, task: str, encoder: str, **given: Any) -> Any:
    from evaluation.utd.actions.biases import measure_bias
    from evaluation.utd.requests import BiasRequest
    from foilworks.core.jobs.runner import run_now

    own = {name: given.pop(name) for name in ("seed", "max_reading") if name in given}
    run = measure_bias(None, told, BiasRequest(task=task, encoder=encoder, options=given, **own))
    done = run_now(run.job)
    if done.state != "done":
        raise SystemExit(done.error)
    run.refresh_from_db()
    return run


def cells(run: Any) -> dict[tuple[str, str, str], float]:
    return {
        (kind, row["concept"], cell["temporal"]): 100 * cell["value"]
        for kind in ("common", "dataset")
        for row in run.result[kind] or ()
        for cell in row["cells"]
        if cell["value"] is not None
    }


def changed(base: Any, run: Any) -> str:
    """Return the largest change of a cell with its place, the changed votes, and the share of removed samples."""
    before, after = cells(base), cells(run)
    place = max(before, key=lambda one: abs(after[one] - before[one]))
    votes = [np.array([list(row) for row in one.predictions["correct"]]) for one in (base, run)]
    moved = 100 * float((votes[0] != votes[1]).mean())
    share = [100 * one.result["split"]["share_biased"] for one in (base, run)]
    change = after[place] - before[place]
    where = f" ({', '.join(place)})" if change else ""
    return f"{change:+.1f}{where} | {moved:.1f} % | {share[0]:.1f} → {share[1]:.1f}"


def choices(told: Any, encoder: str, tasks: set[str]) -> Iterator[str]:
    base = {task: measured(told, task, encoder) for task in sorted(tasks)}
    yield "| choice | value | largest change of a cell | changed votes | object-biased, % |"
    yield "|---|---|---|---|---|"
    for task, name, value in CHOICES:
        if task in tasks:
            yield f"| {name} | {value} | {changed(base[task], measured(told, task, encoder, **{name: value}))} |"
    if run := base.get(CLASSIFICATION):
        yield from beside(run)
    for row in base[RETRIEVAL].result["galleries"] if RETRIEVAL in base else ():
        yield f"reduced gallery, {row['concept']}: {100 * row['full']:.1f} → {100 * row['reduced']:.1f}"


def beside(run: Any) -> Iterator[str]:
    """Yield what a run contains beside its choices: videos without texts, ties of the balanced split, kappa."""
    from evaluation.utd.models import FrameText
    from evaluation.utd.splits import balanced_removal

    texts: dict[int, list[bool]] = {}
    for video, raw in FrameText.objects.filter(descriptions=run.descriptions).values_list("video", "raw"):
        texts.setdefault(video, []).append(bool(raw.get("activities", "").strip()))
    empty = sum(not any(frames) for frames in texts.values())
    yield f"videos without any activity: {empty} of {len(texts)}; at most {100 * empty / len(texts):.1f} points"
    stored = run.predictions
    removed = set(run.result["split"]["removed_balanced"])
    reverse = [f"{len(stored['ids']) - at:09d}" for at in range(len(stored["ids"]))]
    made = balanced_removal(
        len(removed), ids=reverse, classes=stored["classes"], confidence=np.array(stored["confidence"])
    )
    yield f"balanced split, ties in reverse order: {len(removed - {stored['ids'][at] for at in made})} samples differ"
    yield f"Fleiss' kappa x 100, right or wrong: {100 * (run.result['split']['kappa'] or 0):.1f}"
    yield f"Fleiss' kappa x 100, predicted classes: {100 * kappa_of_classes(run):.1f}"


def kappa_of_classes(run: Any) -> float:
    """Return the agreement of the nine models on the class that they predict."""
    from evaluation.utd import bias_measures
    from evaluation.utd.instructions import ROBUST_OBJECTS
    from evaluation.utd.measuring import open_encoder
    from evaluation.utd.sample_tasks import task_of
    from evaluation.utd.samples import samples_of

    task = task_of(run, samples_of(run)[0])
    task.embedding = open_encoder(run.encoder, run.params)[0]
    task = task.with_texts("objects", "sequence")
    counts = np.zeros((len(task.test), len(task.names)))
    for number, told in enumerate(ROBUST_OBJECTS[run.task]):
        learnt, judged = (task.sequences(some, told) for some in (task.train, task.test))
        for draw in range(3):
            model = bias_measures.fitted(learnt, task.train_labels, len(task.names), bootstrap=3 * number + draw)
            counts[np.arange(len(counts)), model.scores(bias_measures.normalised(judged[:])).argmax(axis=1)] += 1
    raters = counts.sum(axis=1)[0]
    agreeing = float(((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))).mean())
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (agreeing - by_chance) / (1 - by_chance)


def listed(draw: np.random.Generator, name: str) -> str:
    """Make up the objects of a video in sequence: five per frame, some of the class, the others common."""
    from evaluation.utd.concepts import OBJECTS
    from evaluation.utd.frame_forms import sequence_form
    from evaluation.utd.procedure import AS_PUBLISHED

    things, share, frames = CLASSES[name].split(), draw.uniform(*OWN), []
    for _ in range(FRAMES):
        own = int(draw.binomial(THINGS, share))
        frames.append(", ".join([*draw.choice(things, own), *draw.choice(COMMON, THINGS - own)]))
    return sequence_form(OBJECTS, frames, AS_PUBLISHED)


def lists(per_class: int, encoder: str, seed: int) -> tuple[Any, Any]:
    """Return vectors and labels of made-up lists of objects under the first instruction."""
    from evaluation.utd.instructions import ROBUST_OBJECTS
    from evaluation.utd.measuring import open_encoder
    from evaluation.utd.representations import Texts

    draw, names = np.random.default_rng(seed), list(CLASSES)
    labels = np.tile(np.arange(len(names)), per_class)
    shown = np.where(np.arange(len(labels)) % OTHER, labels, (labels + 1) % len(names))
    texts = [listed(draw, names[each]) for each in shown]
    told = ROBUST_OBJECTS[CLASSIFICATION][0]
    vectors = open_encoder(encoder, {})[0].sequences([Texts([], texts)], told)
    return np.asarray(vectors[:]), labels


def small(sizes: list[int], encoder: str, draws: int) -> Iterator[str]:
    from evaluation.utd import bias_measures

    (train, labels), test = lists(LEARNT, encoder, 0), lists(TESTED_SMALL, encoder, 1)
    unit = bias_measures.normalised(train)
    own = len(unit)
    yield f"mean cosine of two train videos: {((unit @ unit.T).sum() - own) / (own * own - own):.3f}"
    yield "| train videos per class | bootstrap | C | whole train split | nine models | object-biased, % | certified |"
    yield "|---|---|---|---|---|---|---|"
    for size in sizes:
        # A draw of all videos is always the same one, but its bootstraps differ.
        for bootstrap, c in SMALL:
            facts = []
            for number in range(draws):
                draw = np.random.default_rng(number)
                chosen = [draw.permutation(np.flatnonzero(labels == one))[:size] for one in range(len(CLASSES))]
                at = np.sort(np.concatenate(chosen))
                facts.append(shares((train[at], labels[at]), test, bootstrap, c, number))
            full, nine, share = (100 * np.array([each[name] for each in facts]) for name in ("full", "mean", "share"))
            shown = f"{full.mean():.1f} | {nine.mean():.1f} | {share.mean():.1f} [{share.min():.1f}, {share.max():.1f}]"
            yield f"| {size} | {bootstrap} | {c:g} | {shown} | {sum(each['certified'] for each in facts)} of {draws} |"


def shares(learnt: Any, test: Any, bootstrap: str, c: float, number: int) -> dict[str, Any]:
    """Return accuracies and the share of samples on which nine bootstrapped models are all right."""
    from evaluation.utd import bias_measures
    from evaluation.utd.guards import guarded
    from evaluation.utd.procedure import STRATIFIED, Procedure
    from evaluation.utd.splits import consensus

    (train, labels), (judged, expected), n = learnt, test, len(CLASSES)
    full = bias_measures.credit_of(
        bias_measures.fitted(train, labels, n, c=c).scores(bias_measures.normalised(judged)), expected
    )
    right, _ = bias_measures.nine_classifiers(
        [train],
        labels,
        [judged],
        expected,
        n,
        seed=9 * number,
        bootstraps=9,
        stratified=bootstrap == STRATIFIED,
        c=c,
    )
    rows = ["".join("01"[int(one)] for one in row) for row in right]
    facts = guarded(rows, full, {"class": len(labels) // n}, Procedure(bootstrap=bootstrap, c=c))
    return {**facts, "share": float(consensus(right).mean())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="texts in the published form (default: made up)")
    parser.add_argument("--encoder", default="fake-words:")
    parser.add_argument("--small", type=int, nargs="*", default=[], help="only train sizes, in videos per class")
    parser.add_argument("--draws", type=int, default=5, help="draws of the train videos for each size")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foilworks-utd-") as home:
        os.environ["FOILWORKS_HOME"] = home
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        if given.small:
            lines = small(given.small, given.encoder, given.draws)
        else:
            world = read(given.folder) if given.folder else made_up(LEARNT, TESTED)
            tasks = {CLASSIFICATION} if world["classes"] else set()
            tasks |= {RETRIEVAL} if world["captions"] else set()
            lines = choices(store("rules", world, Path(home)), given.encoder, tasks)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
