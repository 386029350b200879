"""Define the stages of a benchmark project as work that can be killed.

Each stage can be started any number of times, with the same outcome each time. A stage that runs as a job continues by
itself. A command is started again by the program that started it.
"""

import hashlib
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from _soak_people import SERVE, persistent

CLIPS, CAPTIONS, RECORDS, SENT, STEPS = 24, 400, 300, 1500, 32
# Videos that a backup copies, beside those that are shown.
FILLING_BYTES, FILLINGS = 4_000_000, 24
WAIT_SECONDS = 180.0
PROGRAM = Path(sys.executable).with_name("foilworks")


@dataclass
class World:
    """What the stages work on; created once."""

    folder: Path
    shapes: Any
    sent: bytes
    film: bytes
    release: Any
    exported: str
    owner: Any


@dataclass
class Unit:
    """One run of a stage: the `job` of a job, or the `process` of a command."""

    stage: str
    number: int
    row: Any = None
    process: psutil.Popen | None = None
    kills: int = 0
    retries: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    def job(self) -> Any:
        return persistent(lambda: type(self.row).objects.select_related("job").get(pk=self.row.pk)).job


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def make_world(folder: Path) -> World:
    """Create the project of shapes: captions to make foils for, a release to score and export, a file to import."""
    from django.conf import settings

    from evaluation.releases.actions.freeze_release import freeze_release
    from foilworks.core.corpus.models import Caption, Foil, Item, Project, Video
    from foilworks.core.corpus.rules.states import FoilVerdict
    from foilworks.core.media.encode import write_mp4
    from foilworks.core.projects.models import Role
    from foilworks.site.imports.store import import_records
    from tests import factories
    from tests.evaluation.teacher.shapes import Shapes
    from tests.media.painted import painted_clip

    media = Path(settings.MEDIA_ROOT)
    shapes = Shapes(media, folder / "models", clips=CLIPS, held=8)
    Foil.objects.update(verdict=FoilVerdict.VALID)
    Item.objects.update(unanimous=None)
    for video in Video.objects.exclude(file=""):
        video.sha256 = hashlib.sha256((media / video.file.name).read_bytes()).hexdigest()
        video.save(update_fields=["sha256"])
    many = factories.make_project(slug="many")
    factories.make_subtest(many, name="folds")
    videos = Video.objects.bulk_create(Video(project=many, key=f"v{k}") for k in range(CAPTIONS))
    texts = [f"a man folds a shirt and {k} towels." for k in range(CAPTIONS)]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    Caption.objects.bulk_create(
        Caption(video=video, key=video.key, text=text, text_sha256=sha256)
        for video, text, sha256 in zip(videos, texts, hashes, strict=True)
    )
    for number in range(FILLINGS):
        path = media / "videos" / "00" / f"filling-{number}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hashlib.sha256(str(number).encode()).digest() * (FILLING_BYTES // 32))
    (folder / "records.jsonl").write_bytes(_records(RECORDS))
    write_mp4(folder / "film.mp4", painted_clip(24), fps=8)
    film = (folder / "film.mp4").read_bytes()
    import_records(Project(slug="exported"), None, "jsonl", folder / "records.jsonl", as_published=True)
    freeze_release(None, Project.objects.get(slug="exported"))
    owner = factories.make_member(shapes.project, Role.RESEARCHER)
    return World(folder, shapes, _records(SENT), film, shapes.release, "exported", owner)


def _records(number: int) -> bytes:
    return "".join(f"{json.dumps(_record(k))}\n" for k in range(number)).encode()


def _record(number: int) -> dict[str, Any]:
    text = f"person {number} opens a door."
    votes = {"caption": 3, "foil": 0, "other": 0}
    return {
        "id": f"r{number}",
        "source_id": f"s{number}",
        "caption": text,
        "foil": text.replace("opens", "shuts"),
        "subtest": "doors",
        "votes": votes,
    }


def _box(text: str) -> bytes:
    """Return an MP4 box that players skip."""
    content = text.encode()
    return (8 + len(content)).to_bytes(4, "big") + b"free" + content


class Stage:
    """A stage.

    `start` begins a unit; `outcome` is its result, equal for all units of the stage.
    """

    name = ""

    def __init__(self, world: World) -> None:
        self.world = world

    def start(self, number: int) -> Unit:
        raise NotImplementedError

    def outcome(self, unit: Unit) -> Any:
        raise NotImplementedError


class Importing(Stage):
    """Import a file that somebody uploaded on the page."""

    name = "import"

    def start(self, number: int) -> Unit:
        from django.core.files.uploadedfile import SimpleUploadedFile

        from foilworks.core.projects.models import Role
        from foilworks.site.imports.actions.receive_import import receive_import
        from tests import factories

        project = factories.make_project(slug=f"import-{number}")
        owner = factories.make_member(project, Role.RESEARCHER)
        sent = SimpleUploadedFile("records.jsonl", self.world.sent)
        # Different bytes each time: a file that is already stored is not stored again.
        films = [SimpleUploadedFile(f"s{k}.mp4", self.world.film + _box(f"{number} {k}")) for k in range(2)]
        upload = receive_import(
            owner, project, format_slug="jsonl", records=sent, videos=films, params={}, as_published=True, at_once=True
        )
        return Unit(self.name, number, upload, notes={"project": project.slug})

    def outcome(self, unit: Unit) -> Any:
        from foilworks.core.corpus.models import Item, Video
        from foilworks.core.projects.models import AuditEvent
        from foilworks.site.imports.models import Import
        from foilworks.site.imports.uploads import folder_of

        upload = Import.objects.get(pk=unit.row.pk)
        items = Item.objects.filter(subtest__project__slug=unit.notes["project"])
        rows = sorted(items.values_list("key", "caption__text", "foils__text", "state"))
        assert len(rows) == SENT, f"{len(rows)} items of {SENT}"
        events = AuditEvent.objects.filter(project__slug=unit.notes["project"], action="import").count()
        assert events == SENT, f"{events} events of {SENT} items"
        assert not folder_of(upload).exists(), "the files that were sent are still there"
        videos = Video.objects.filter(project__slug=unit.notes["project"])
        said = {name: upload.result[name] for name in ("created", "unchanged", "errors")}
        return {
            "rows": digest(rows),
            "videos": Counter(videos.values_list("media_state", flat=True)),
            "said": said,
        }


class Generating(Stage):
    name = "generation"

    def start(self, number: int) -> Unit:
        from foilworks.core.corpus.models import Subtest
        from generation.actions.runs import start_run

        subtest = Subtest.objects.select_related("project").get(project__slug="many")
        run = start_run(
            None,
            subtest.project,
            subtest=subtest,
            method="mask_fill",
            params={"model": "fake-mask:", "foils": "2", "tagger": "offline"},
            filters={"nli": {"model": "fake-classifier:"}},
        )
        return Unit(self.name, number, run)

    def outcome(self, unit: Unit) -> Any:
        from foilworks.core.projects.models import AuditEvent
        from generation.models import Candidate, CandidateGroup

        groups = CandidateGroup.objects.filter(run=unit.row.pk)
        made = Candidate.objects.filter(group__run=unit.row.pk)
        rows = sorted(made.values_list("group__caption__key", "text", "rank", "state"))
        assert groups.count() == CAPTIONS, f"{groups.count()} groups of {CAPTIONS}"
        ids = [str(pk) for pk in made.values_list("pk", flat=True)]
        events = AuditEvent.objects.filter(target_type="generation.candidate", target_id__in=ids).count()
        return {"rows": digest(rows), "n": len(rows), "events": events}


class Describing(Stage):
    """Describe with a model behind an endpoint, under a new name each time, so that no answer is cached."""

    name = "description"

    def start(self, number: int) -> Unit:
        from evaluation.utd.actions.descriptions import describe_videos

        model = f"endpoint:lab:tiny-{number}"
        made = describe_videos(
            None, self.world.shapes.project, describer=model, extractor=model, frames=2, device="cpu"
        )
        return Unit(self.name, number, made)

    def outcome(self, unit: Unit) -> Any:
        from evaluation.utd.models import FrameText

        rows = sorted(FrameText.objects.filter(descriptions=unit.row.pk).values_list("video__key", "place", "raw"))
        keys = {row[:2] for row in rows}
        assert keys, "nothing was described"
        assert len(keys) == len(rows), "a frame is described twice"
        assert all(row[2].keys() >= {"objects", "activities", "summary"} for row in rows), rows[:2]
        return {"rows": digest(rows), "n": len(rows)}


class Scoring(Stage):
    name = "scoring"

    def start(self, number: int) -> Unit:
        from evaluation.scoring.actions.start_run import start_run
        from foilworks.core.corpus.models import Release

        folder = self.world.folder / "external" / f"model-{number}"
        folder.mkdir(parents=True)
        (folder / "serve.py").write_text(SERVE.replace("REVISION", folder.name))
        (folder / "foilworks.json").write_text(json.dumps({"command": ["{python}", "serve.py"]}))
        release = Release.objects.get(pk=self.world.release.pk)
        return Unit(self.name, number, start_run(None, release, f"external:{folder}", device="cpu"))

    def outcome(self, unit: Unit) -> Any:
        from evaluation.scoring.models import Run, Score

        run = Run.objects.get(pk=unit.row.pk)
        rows = sorted(Score.objects.filter(model_key=run.model_key).values_list("clip_key", "text_sha256", "value"))
        assert len({row[:2] for row in rows}) == len(rows), "a pair is scored twice"
        return {"rows": digest(rows), "n": len(rows)}


class Teaching(Stage):
    name = "teacher training"

    def start(self, number: int) -> Unit:
        from foilworks.site.teacher.actions.trainings import start_teacher

        shapes = self.world.shapes
        params = shapes.settings(steps=STEPS, save_every=4, curve_every=2, batch=8, lgt=1.0, contrastive=1.0)
        training = start_teacher(
            None, shapes.project, params=params, action_runs=(shapes.action_run.pk,), release=shapes.release
        )
        return Unit(self.name, number, training)

    def outcome(self, unit: Unit) -> Any:
        from foilworks.site.teacher.models import TeacherTraining
        from foilworks.site.teacher.teaching import work_of

        training = TeacherTraining.objects.get(pk=unit.row.pk)
        assert not work_of(training).exists(), "the folder of the checkpoints is still there"
        reading = training.readings.get()
        curve = list(training.points.values_list("step", "loss", "rcad", "standard"))
        model = Path(training.model_spec.removeprefix("tiny:"))
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(model.iterdir())}
        # The next training of the same captions ends in the same folder and must create it again.
        shutil.rmtree(model)
        return {
            "files": files,
            "curve": digest(curve),
            "before": digest(reading.before),
            "after": digest(reading.after),
        }


JOBS: tuple[type[Stage], ...] = (Importing, Generating, Describing, Scoring, Teaching)


def wait_until(true: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.02)
