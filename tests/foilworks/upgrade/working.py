"""The jobs and the API client of the old version, in an upgraded installation. Runs inside of it."""

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

from evaluation.teacher.models import TeacherTraining
from foilworks.wsgi import application
from generation.models import Tuning
from jobs.aliases import find_job
from jobs.models import Job, JobState
from jobs.queue import retry
from jobs.runner import execute, run_now
from tests.foilworks.upgrade.record import surface

Found = Iterator[Any]
# Of each kind one that takes no model: a job that ran, one that was lost, one that failed.
FEW = {
    "waiting": ("annotation.jobs.nouns_of_captions", "evaluation.jobs.run_import", "projects.jobs.deliver_webhook"),
    "running": ("evaluation.jobs.run_scoring", "evaluation.jobs.preview_import", "generation.jobs.run_generation"),
    "failed": ("evaluation.jobs.count_dashboard", "generation.jobs.answer_hint", "evaluation.jobs.compute_report"),
}


def names_of_jobs(kept: dict[str, Any]) -> Found:
    """Every row names a function that takes an id and a job, and every job of the version is in some row."""
    names = set(Job.objects.values_list("dotted", flat=True))
    yield from (f"no row: {name}" for name in set(surface()["jobs"]) - names)
    for name in names:
        parameters = list(inspect.signature(find_job(name)).parameters)
        if len(parameters) != 2 or parameters[1] != "job":
            yield f"{name} takes {parameters}"


def few_jobs(kept: dict[str, Any]) -> Found:
    yield from _run(kept, lambda state, dotted: dotted in FEW.get(state, ()))


def all_jobs(kept: dict[str, Any]) -> Found:
    """Run every recorded job; each ends as the old version ended it."""
    _make_models()
    yield from _run(kept, lambda _state, _dotted: True)


def _run(kept: dict[str, Any], wanted: Callable[[str, str], bool]) -> Found:
    said = kept["said"]["jobs"]
    rows = Job.objects.in_bulk(list(said))
    # Shards before the job that collects them.
    for job in sorted(rows.values(), key=lambda one: (one.parent_id is None, one.created_at, one.number)):
        then = said[str(job.pk)]
        if job.dotted != then["dotted"]:
            yield f"{job.pk} was {then['dotted']} and is {job.dotted}"
        if wanted(job.state, job.dotted):
            _ended(job)
            if job.state != then["state"]:
                yield f"{job.dotted} ({then['was']}) ended {job.state}, was {then['state']}: {job.error}"


def _ended(job: Job) -> None:
    """Take the job up as the queue and people do: a lost one after its lease, a failed one by retry."""
    if job.state == JobState.RUNNING:
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    if job.state == JobState.FAILED:
        retry(job)
    job.refresh_from_db()
    if not job.is_over:
        try:
            run_now(job)
        except Exception as error:  # noqa: BLE001 - whatever it is: the row says it, and the test compares
            job.refresh_from_db()
            job.error = job.error or repr(error)
            return
    job.refresh_from_db()


def _make_models() -> None:
    """The folders that the jobs name. Their weights are random; the record does not keep them."""
    import torch

    from tests.evaluation.teacher import shapes
    from tests.hub import folders

    torch.set_num_threads(1)
    root = Path(settings.MODEL_ROOT)
    specs = TeacherTraining.objects.exclude(params={}).values_list("student", "model_spec")
    for spec in {one for pair in specs for one in pair if one}:
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


def client(kept: dict[str, Any]) -> Found:
    """Call every method of the recorded client; what the whole way comes to is right."""
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

    yield from _whole_way(connect, kept["world"]["people"]["superuser"]["token"])
    yield from (f"never called: {name}" for name in methods - called)


def _whole_way(connect: Callable[[str], Any], token: str) -> Found:
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


def _judge(validator: Any, slug: str) -> Found:
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


def _results(owner: Any, slug: str, subtest: int) -> Found:
    release = owner.release(slug, "first")
    if not owner.export(slug, release["id"]).startswith(b"PK"):
        yield "export is no zip"
    run = owner.score(slug, release["id"], "fake:text")
    if owner.scoring(slug, run["id"])["id"] != run["id"] or not list(owner.scores(slug, run["id"])):
        yield f"scoring: {run}"
    generation = owner.start_generation(slug, subtest, "fake")
    owner.add_webhook(slug, "http://127.0.0.1:9/client", ["release.frozen"])
    counts = {
        "candidates": len(list(owner.candidates(slug, generation["id"]))),
        "items": len(list(owner.items(slug))),
        "members": len(list(owner.members(slug))),
        "votes": len(list(owner.votes(slug))),
        "each": len(list(owner.each(f"/api/projects/{slug}/releases"))),
    }
    wanted = {"candidates": 3, "items": 3, "members": 4, "votes": 9, "each": 1}
    if counts != wanted:
        yield f"counted {counts}, wanted {wanted}"
    if slug not in {project["slug"] for project in owner.projects()}:
        yield "projects"
