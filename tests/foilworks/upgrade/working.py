"""Run the jobs and the API client of the old version in an upgraded installation. Runs inside of it."""

import importlib
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.utils import timezone

from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.names import find_job
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import execute, run_now
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.wsgi import application
from generation.models import Tuning
from tests.foilworks.upgrade import removed
from tests.foilworks.upgrade.record import surface

Differences = Iterator[Any]
# Jobs of each state that need no model, by the names of 0.3.0.
FEW = {
    "waiting": (
        "annotation.jobs.nouns_of_captions",
        "annotation.pairs.jobs.add_natural_pairs",
        "evaluation.imports.jobs.run_import",
        "projects.jobs.deliver_webhook",
    ),
    "running": (
        "annotation.choices.jobs.compose_items",
        "evaluation.imports.jobs.preview_import",
        "evaluation.scoring.jobs.run_scoring",
        "generation.jobs.run_generation",
    ),
    "failed": (
        "evaluation.dashboard.jobs.count_dashboard",
        "evaluation.releases.jobs.freeze_by_job",
        "evaluation.reports.jobs.compute_report",
        "generation.jobs.answer_hint",
    ),
}


def names_of_jobs(record: dict[str, Any]) -> Differences:
    """Every row names a function that takes an id and a job, and every job of the version is in a row."""
    names = set(Job.objects.values_list("dotted", flat=True))
    yield from (f"no row: {name}" for name in set(surface()["jobs"]) - names)
    for name in names - removed.JOBS:
        parameters = list(inspect.signature(find_job(name)).parameters)
        if len(parameters) != 2 or parameters[1] != "job":
            yield f"{name} takes {parameters}"


def few_jobs(record: dict[str, Any]) -> Differences:
    yield from _run(record, lambda state, dotted: dotted in FEW.get(state, ()))


def all_jobs(record: dict[str, Any]) -> Differences:
    """Run every recorded job; it ends as the old version ended it, or with one line if 0.4 removed what it did."""
    _make_models()
    yield from _run(record, lambda _state, _dotted: True)


def _run(record: dict[str, Any], is_selected: Callable[[str, str], bool]) -> Differences:
    recorded_jobs = record["answers"]["jobs"]
    rows = Job.objects.in_bulk(list(recorded_jobs))
    # Shards before the job that collects them.
    for job in sorted(rows.values(), key=lambda row: (row.parent_id is None, row.created_at, row.number)):
        before = recorded_jobs[str(job.pk)]
        if job.dotted != before["dotted"]:
            yield f"{job.pk} was {before['dotted']} and is {job.dotted}"
        if is_selected(job.state, job.dotted):
            _run_to_its_end(job)
            if job.dotted in removed.JOBS:
                if (job.state, "version 0.4 removed" in job.error) != (JobState.FAILED, True):
                    yield f"{job.dotted} ended {job.state}: {job.error}"
            elif job.state != before["state"]:
                state = before["state_before"]
                yield f"{job.dotted} ({state}) ended {job.state}, before {before['state']}: {job.error}"


def _run_to_its_end(job: Job) -> None:
    """Run the job as the queue and people do: an abandoned one after its lease, a failed one by retry."""
    if job.state == JobState.RUNNING:
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    if job.state == JobState.FAILED:
        retry(job)
    job.refresh_from_db()
    if not job.is_over:
        try:
            run_now(job)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test compares the row
            job.refresh_from_db()
            job.error = job.error or repr(error)
            return
    job.refresh_from_db()


def _make_models() -> None:
    """Create the folders that the jobs name. Their weights are random, so the record does not contain them."""
    import torch

    from tests.evaluation.teacher import shapes
    from tests.hub import folders

    torch.set_num_threads(1)
    root = Path(settings.MODEL_ROOT)
    specs = TeacherTraining.objects.exclude(params={}).values_list("student", "model_spec")
    for spec in {spec for pair in specs for spec in pair if spec}:
        shapes.student(Path(spec.partition(":")[2]))
    shapes.teacher(root / "teacher")
    for base in {tuning.params["model"] for tuning in Tuning.objects.exclude(params={})}:
        folders.text_to_text(Path(base), steps=0)


# --- the old client


class _Served(httpx.BaseTransport):
    """Our pages without a server; a job that a request queues is done before the next one."""

    def __init__(self) -> None:
        self._pages = httpx.WSGITransport(app=application)
        self._old = set(Job.objects.values_list("pk", flat=True))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._pages.handle_request(request)
        answer.read()
        for pk in Job.objects.filter(state=JobState.WAITING).exclude(pk__in=self._old).values_list("pk", flat=True):
            execute(str(pk))
        return answer


def client(record: dict[str, Any]) -> Differences:
    """Call every method of the recorded client, from a new project to its results."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "client_of_before"
        package.mkdir()
        for name, source in surface()["client"].items():
            (package / name).write_text(source.replace("foilworks.client", "client_of_before"), encoding="utf-8")
        sys.path.insert(0, folder)
        old = importlib.import_module("client_of_before").Client
    called: set[str] = set()
    methods = {name for name, _function in inspect.getmembers(old, inspect.isfunction) if name[0] != "_"}

    class Noting(old):
        def __getattribute__(self, name: str) -> Any:
            called.update({name} & methods)
            return super().__getattribute__(name)

    def connect(token: str) -> Any:
        return Noting("http://testserver", token, transport=_Served())

    yield from _whole_way(connect, record["installation"]["people"]["superuser"]["token"])
    yield from (f"never called: {name}" for name in methods - called)


def _whole_way(connect: Callable[[str], Any], token: str) -> Differences:
    with connect(token) as owner:
        slug = owner.create_project("by-the-client", "By the client", edit_stage=False)["slug"]
        subtest = owner.create_subtest(slug, "direction")
        pairs = [("opens", "closes"), ("lifts", "drops"), ("folds", "unfolds")]
        records = [{"id": a, "video": "clip.mp4", "video_key": f"clip-{a}", "caption": f"A man {a} a box.",
                    "foil": f"A man {b} a box.", "subtest": "direction"} for a, b in pairs]  # fmt: skip
        clip = (Path(settings.MEDIA_ROOT) / "train-0000.mp4").read_bytes()
        first = owner.import_records(slug, records, videos={"clip.mp4": clip})
        second = owner.import_records(slug, [{**records[0], "foil": "A man shuts a box."}], update=True)
        if (first["created"]["items"], second["updated"]) != (3, 1):
            yield f"imports: {first}, {second}"
        asked = {"roles": ["validator"], "new_account": True, "with_token": True}
        people = [owner.add_member(slug, f"by-the-client-{number}", **asked) for number in range(3)]
        for person in people:
            with connect(person["token"]) as validator:
                yield from _judge(validator, slug)
        found = owner.report(slug, "validation")["overall"]
        if (found["n_items"], found["n_valid"]) != (3, 3):
            yield f"report: {found}"
        yield from _results(owner, slug, subtest["id"])


def _judge(validator: Any, slug: str) -> Differences:
    """Every item, the first one after a skip and a heartbeat, the second with the next one in the same request."""
    if validator.me()["username"][:13] != "by-the-client" or not validator.queues(slug):
        yield "me, queues"
    validator.skip(validator.claim(slug, "validation"))
    work = validator.claim(slug, "validation")
    validator.heartbeat(work)
    _stored, work = validator.submit_and_claim(work, answer=_right(work))
    while work:
        validator.submit(work, answer=_right(work))
        work = validator.claim(slug, "validation", after=work)


def _right(work: Any) -> str:
    true = {"A man opens a box.", "A man lifts a box.", "A man folds a box."}
    return "first" if work.texts[0] in true else "second"


def _results(owner: Any, slug: str, subtest: int) -> Differences:
    release = owner.release(slug, "first")
    if not owner.export(slug, release["id"]).startswith(b"PK"):
        yield "export is no zip"
    run = owner.score(slug, release["id"], "fake:text")
    if owner.scoring(slug, run["id"])["id"] != run["id"] or not list(owner.scores(slug, run["id"])):
        yield f"scoring: {run}"
    generation = owner.start_generation(slug, subtest, "fake")
    if "ladder" not in owner.ladder(slug, run["id"]):
        yield "ladder"
    hook = owner.add_webhook(slug, "http://127.0.0.1:9/client", ["release.frozen"])
    if owner.rotate_webhook(slug, hook["id"])["secret"] == hook["secret"]:
        yield "rotate_webhook returns the old secret"
    counts = {
        "candidates": len(list(owner.candidates(slug, generation["id"]))),
        "items": len(list(owner.items(slug))),
        "members": len(list(owner.members(slug))),
        "votes": len(list(owner.votes(slug))),
        "each": len(list(owner.each(f"/api/projects/{slug}/releases"))),
    }
    expected_counts = {"candidates": 3, "items": 3, "members": 4, "votes": 9, "each": 1}
    if counts != expected_counts:
        yield f"counted {counts}, expected {expected_counts}"
    if slug not in {project["slug"] for project in owner.projects()}:
        yield "projects"
    yield from _composed_items(owner, slug)
    yield from _tuned_model(owner, slug)


def _composed_items(owner: Any, slug: str) -> Differences:
    choices = owner.create_subtest(slug, "choices")
    owner.compose(slug, choices["id"], "direction")
    n_items = len(list(owner.items(slug, subtest=choices["id"])))
    if n_items != 3:
        yield f"composed {n_items} items, expected 3"


def _tuned_model(owner: Any, slug: str) -> Differences:
    from tests.hub import folders

    clip = (Path(settings.MEDIA_ROOT) / "train-0001.mp4").read_bytes()
    caption = {"id": "train", "video": "train.mp4", "video_key": "train", "caption": "A man rests.", "split": "train"}
    owner.import_records(slug, [caption], videos={"train.mp4": clip})
    base = folders.text_to_text(Path(settings.MODEL_ROOT) / "base of the client", steps=0)
    tuning = owner.tune(slug, model=str(base), device="cpu", epochs=1, batch=8)
    if owner.tuning(slug, tuning["id"])["id"] != tuning["id"]:
        yield "tuning"
