"""Which waiting rows the engine of Ray takes next, for which actor, and what happens to those that it lost."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.template.loader import render_to_string
from django_rq import get_queue

from foilworks.core.jobs.affinity_worker import MAX_CONSECUTIVE_JOBS
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import MAX_LOSSES, dispatch, enqueue, no_worker_hint, requeue_lost
from foilworks.core.jobs.ray.engine import RayEngine
from foilworks.core.jobs.ray.reach import unreachable
from foilworks.core.jobs.ray.rows import Resources, next_jobs, next_of, resources_of, return_lost, return_stopped
from foilworks.site.setting_values import resources
from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.services import work_on_ray

USUAL, GPU = Resources(1, 0), Resources(4, 1)


@pytest.fixture(autouse=True)
def address(settings) -> None:
    settings.RAY_ADDRESS, settings.GPU_QUOTA = "head:6379", 3


def waiting(project: int | None, route: str = "", **fields) -> Job:
    given = {"dotted": "samples.count", "target_id": 1, "queue": "gpu", **fields}
    return Job.objects.create(project_id=project, route=route, **given)


@pytest.mark.django_db
def test_projects_take_turns_within_their_quotas():
    first = [waiting(1) for _ in range(5)]
    second = [waiting(2) for _ in range(2)]
    free = waiting(None)
    waiting(1, queue="default")
    waiting(1, state=JobState.DONE)
    assert next_jobs([], 10) == [free, first[0], second[0], first[1], second[1], first[2]]
    assert next_jobs([], 2) == [free, first[0]]
    # One runs and one was given to an actor: the project has room for one.
    Job.objects.filter(pk=first[0].pk).update(state=JobState.RUNNING)
    assert next_jobs([first[1].pk, free.pk], 10) == [second[0], first[2], second[1]]


@pytest.mark.django_db
def test_an_actor_prefers_its_model_but_not_for_ever(settings):
    settings.RAY_RESOURCES = (("vlm:*", *GPU),)
    clip, vlm, other = waiting(1, "clip:a cpu"), waiting(1, "vlm:b cuda"), waiting(1, "fake:1")
    rows = [other, vlm, clip]
    assert next_of(rows, USUAL, USUAL, "clip:a cpu", 1) == clip
    assert next_of(rows, USUAL, USUAL, "clip:a cpu", MAX_CONSECUTIVE_JOBS) == other
    assert next_of([clip], USUAL, USUAL, "clip:a cpu", MAX_CONSECUTIVE_JOBS) == clip
    assert next_of([vlm, clip], USUAL, USUAL, "clip:a cpu", MAX_CONSECUTIVE_JOBS) is None, "its CPUs are for the other"
    assert next_of(rows, GPU, USUAL, "", 0) == vlm
    assert next_of([clip], GPU, USUAL, "vlm:b cuda", 1) is None


@pytest.mark.django_db
def test_a_lost_job_counts_and_a_stopped_one_does_not():
    running = {"state": JobState.RUNNING, "attempts": 1, "worker": "node:7"}
    lost, stopped, moved = (waiting(1, **running) for _ in range(3))
    hopeless = waiting(1, **running, losses=MAX_LOSSES - 1)
    Job.objects.filter(pk=moved.pk).update(worker="node:8")
    for job in (lost, moved, hopeless):
        return_lost(job.pk, "node:7")
    return_stopped(stopped.pk, "node:7")
    found = Job.objects.in_bulk()
    assert [(found[job.pk].state, found[job.pk].losses) for job in (lost, stopped, moved, hopeless)] == [
        ("waiting", 1),
        ("waiting", 0),
        ("running", 0),
        ("failed", MAX_LOSSES),
    ]


@pytest.mark.django_db(transaction=True)
def test_jobs_that_ray_runs_are_not_sent_to_redis(redis_server):
    heavy, short = enqueue("samples.count", 1, queue="gpu"), enqueue("samples.count", 1)
    assert (get_queue("gpu").job_ids, get_queue("default").job_ids) == ([], [str(short.pk)])
    Job.objects.update(created_at="2026-01-01T00:00Z")
    assert requeue_lost() == 0
    redis_server.stop()
    assert dispatch(Job.objects.filter(pk=heavy.pk)) == 0
    assert next_jobs([], 10) == [heavy]


def test_resources_are_read_from_one_setting(settings):
    settings.RAY_RESOURCES = resources("RAY_RESOURCES", "clip:* 2 0.5, vlm:*7B* 8 1, ")
    assert resources_of("clip:openai/clip auto float32", USUAL) == (2, 0.5)
    assert resources_of("vlm:Qwen/Qwen2.5-VL-7B-Instruct", USUAL) == (8, 1)
    assert resources_of("vlm:other", USUAL) == resources_of("", USUAL) == USUAL
    assert resources("RAY_RESOURCES", "") == ()


@pytest.mark.parametrize("text", ["clip:*", "clip:* 2", "clip:* two 1", "* -1 0", "* 1 1.5", "* nan 0", "* 1 inf"])
def test_a_wrong_resource_names_the_part_and_the_form(text):
    with pytest.raises(ImproperlyConfigured, match=r"RAY_RESOURCES contains .*; write pattern, CPUs and GPUs"):
        resources("RAY_RESOURCES", f"* 1 0, {text}")


def test_a_cluster_that_does_not_answer_is_named_before_ray_tries_for_minutes(settings):
    settings.RAY_ADDRESS = "127.0.0.1:9"
    with pytest.raises(JobError, match=r"cannot reach Ray at 127.0.0.1:9 \(Connection refused\); check RAY_ADDRESS"):
        RayEngine(1).__enter__()
    with pytest.raises(SupervisorError, match=r"cannot reach Ray at 127.0.0.1:9"):
        work_on_ray(slots=1, say=print)
    # Ray resolves these itself.
    assert not unreachable("auto")
    assert not unreachable("ray://head:10001")


def test_a_waiting_job_says_who_runs_it(settings):
    job = Job(queue="gpu")
    settings.RAY_ADDRESS = ""
    assert not job.is_for_ray
    settings.RAY_ADDRESS = "head:6379"
    assert no_worker_hint(job).startswith("Ray at head:6379 runs it: `foilworks worker --ray` must run")
    assert not Job(queue="default").is_for_ray
    page = render_to_string("generation/_job.html", {"job": job})
    assert "Waiting for the Ray cluster" in page
