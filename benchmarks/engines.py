"""Compare the engines, RQ and Ray: the same descriptions with 1 to 8 workers, and a long run whose engine is killed.

    .venv/bin/python benchmarks/engines.py                    a describer that waits 50 ms per text, then one that
                                                              computes with 1 and 2 workers: 6 minutes on 2 processors
    .venv/bin/python benchmarks/engines.py --bound processor  only the one that computes
    .venv/bin/python benchmarks/engines.py --long 50000       a long run on Ray: memory, and a kill of its engine

Each line of output is JSON. Rates are those of the shards' rows, from the start of the last worker to the end of the
first one; all workers are loaded before. `cpu_ms` is processor time per text in the same span: on a busy machine it
says what the rates would be on a quiet one, since n workers need n / (50 ms + their own time) texts x `cpu_ms`.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
from _cpu import Meter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.served_home import ROOT, make_tables

WAIT_S, LEASE_S, LOOK_S, FRAMES = 0.05, 10, 2.0, 8
# Texts per shard and per worker: half of the smallest shard of a run of 8 frames, and half a minute at most.
SHARD, TEXTS = 128, {"wait": 512, "processor": 2560}
DESCRIBERS = {"wait": "endpoint:lab/tiny", "processor": "fake-generator:"}
WORKERS = {"wait": "1,2,4,8", "processor": "1,2"}
MEET = "samples.meet"
ACTORS = {"ray::JobActor": "workers"}


@contextmanager
def lab() -> Iterator[tuple[dict[str, str], dict[str, int]]]:
    """Run PostgreSQL, Redis, an endpoint and a Ray node; yield the environment of workers and these processes."""
    from tests.postgres import running_postgres
    from tests.ray_cluster import running_cluster

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="foilworks-engines-")))
        postgres, (endpoint, url) = stack.enter_context(running_postgres()), stack.enter_context(waiting_endpoint())
        own = {
            "FOILWORKS_HOME": str(home),
            "DATABASE_URL": postgres.make("engines"),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "FOILWORKS_GPU_QUOTA": "0",
            "FOILWORKS_LEASE_SECONDS": str(LEASE_S),
            # One thread per worker, or one worker would use both processors.
            "OMP_NUM_THREADS": "1",
            "FOILWORKS_THREADS": "1",
            "FOILWORKS_DECODERS": "1",
            "PYTHONPATH": str(ROOT),
            "CHAT_ENDPOINTS": "lab",
            "CHAT_LAB_URL": url,
            "CHAT_LAB_MODELS": "tiny",
            "CHAT_LAB_IN_FLIGHT": "1",
        }
        os.environ |= own
        os.environ.pop("REDIS_URL", None)
        os.environ.pop("RAY_ADDRESS", None)
        make_tables()
        from foilworks.site.supervisor.embedded_redis import EmbeddedRedis

        redis = EmbeddedRedis(home)
        assert redis.acquire()
        redis.start()
        stack.callback(redis.release)
        stack.callback(redis.stop)
        cluster = stack.enter_context(running_cluster({**os.environ}, 8))
        os.environ["ENGINE_RAY"] = cluster.address
        assert postgres.process is not None
        roots = {"postgres": postgres.process.pid, "endpoint": endpoint, "ray": cluster.nodes[0].pid}
        # The only other child of this process.
        others = {child.pid for child in psutil.Process().children()} - set(roots.values())
        yield {**os.environ, "RAY_ADDRESS": cluster.address}, {**roots, "redis": others.pop()}


@contextmanager
def waiting_endpoint() -> Iterator[tuple[int, str]]:
    """Run the endpoint that takes a while per picture; yield its process id and its address."""
    command = [sys.executable, str(ROOT / "benchmarks" / "_chat_stub.py"), str(WAIT_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.pid, f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def work(engine: str, slots: int, environment: dict[str, str]) -> subprocess.Popen:
    program = str(Path(sys.executable).with_name("foilworks"))
    options = ["--ray"] if engine == "ray" else ["--cpu", "--queue", "gpu"]
    command = [program, "worker", *options, "--slots", str(slots), "--until-empty"]
    given = dict(environment)
    if engine == "rq":
        given.pop("RAY_ADDRESS")
    return subprocess.Popen(command, cwd=ROOT, env=given)


def film(numbers: range) -> None:
    """Make one file per number, which it shows."""
    import numpy as np
    from django.conf import settings

    from foilworks.core.media.encode import write_mp4
    from tests.foilworks.described_videos import painted

    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        write_mp4(folder / f"{number}.mp4", np.stack([painted(number)] * 8), fps=8)


def describe(count: int, shard: int, describer: str, frames: int, *, one_file: bool = False) -> Any:
    """Queue descriptions of new videos, of which number n shows the file n."""
    from django.conf import settings

    from evaluation.utd.actions.descriptions import describe_videos
    from foilworks.core.corpus.models import Video
    from tests import factories

    settings.SHARD_ITEMS = shard
    project = factories.make_project()
    one = factories.make_video(project, key="v0", file="0.mp4", sha256="0" * 64)
    fields = {field.attname: getattr(one, field.attname) for field in Video._meta.concrete_fields if field.name != "id"}
    one.delete()
    rows = []
    for number in range(count):
        name = 0 if one_file else number
        rows.append(Video(**{**fields, "key": f"v{number}", "file": f"{name}.mp4", "sha256": f"{name:064d}"}))
    Video.objects.bulk_create(rows, batch_size=5000)
    made = describe_videos(None, project, describer=describer, extractor="fake-reader:", frames=frames, device="cpu")
    return made.job


def forget() -> None:
    """Forget answers and decoded frames, so that each run does everything."""
    from django.conf import settings

    from generation.models import ModelAnswer

    ModelAnswer.objects.all().delete()
    shutil.rmtree(settings.CACHE_ROOT, ignore_errors=True)


def measured(job: Any, slots: int, meter: Meter) -> dict[str, Any]:
    """Return texts per second, the share of idle time of the workers, and processor time, while all workers work."""
    rows = [shard for shard in job.shards.all() if shard.payload["stage"] == "describe"]
    assert {shard.state for shard in rows} == {"done"}, {shard.error for shard in rows}
    spans: dict[str, list[tuple[float, float, int]]] = {}
    for row in rows:
        spans.setdefault(row.worker, []).append((row.started_at.timestamp(), row.finished_at.timestamp(), row.total))
    assert len(spans) == slots, f"{len(spans)} of {slots} workers took part: give them more texts"
    begin = max(min(start for start, *_ in one) for one in spans.values())
    end = min(max(end for _, end, _ in one) for one in spans.values())
    shared = [(min(end, e) - max(begin, s), e - s, total) for one in spans.values() for s, e, total in one]
    within = [(part, part / whole * total) for part, whole, total in shared if part > 0]
    seconds, texts = end - begin, sum(texts for _, texts in within)
    used, idle_cpus = meter.between(begin, end)
    ours, cpus = sum(used.values()), psutil.cpu_count() or 1
    return {
        "seconds": seconds,
        "rate": texts / seconds,
        "idle": 1 - sum(part for part, _ in within) / slots / seconds,
        "cpu_ms": {name: round(1000 * spent / texts, 2) for name, spent in {**used, "all": ours}.items()},
        "cpus_used": ours / seconds / cpus,
        "cpus_used_by_others": max(0.0, 1 - idle_cpus - ours / seconds / cpus),
    }


def scaling(environment: dict[str, str], services: dict[str, int], bound: str, workers: list[int]) -> None:
    first: dict[str, float] = {}
    rates: dict[tuple[str, int], float] = {}
    film(range(max(workers) * TEXTS[bound]))
    for slots in workers:
        for engine in ("rq", "ray"):
            found = run(environment, services, bound, engine, slots)
            rate = rates[engine, slots] = found["rate"]
            first.setdefault(engine, rate / slots)
            share = rate / first[engine] / slots
            say(bound=bound, engine=engine, workers=slots, share_of_n=share, load=os.getloadavg()[0], **found)
        say(bound=bound, workers=slots, ray_over_rq=rates["ray", slots] / rates["rq", slots])


def run(environment: dict[str, str], services: dict[str, int], bound: str, engine: str, slots: int) -> dict[str, Any]:
    """Describe with so many workers. They start before, with a job each that waits."""
    from django.conf import settings

    from foilworks.core.jobs.models import Job, JobState
    from foilworks.core.jobs.queue import enqueue

    forget()
    settings.RAY_ADDRESS = os.environ["ENGINE_RAY"] if engine == "ray" else ""
    first = [enqueue(MEET, slots, queue="gpu").pk for _ in range(slots)]
    process = work(engine, slots, {**environment, "FOILWORKS_SHARD_ITEMS": str(SHARD)})
    # Of RQ, the supervisor has the workers below it. Of Ray, they are below a node, and have a title.
    group = "workers" if engine == "rq" else "engine"
    with Meter({**services, group: process.pid}, ACTORS) as meter:
        while Job.objects.filter(pk__in=first, state=JobState.RUNNING).count() < slots:
            assert process.poll() is None
            time.sleep(LOOK_S / 10)
        job = describe(slots * TEXTS[bound], SHARD, DESCRIBERS[bound], 1)
        assert process.wait(1800) == 0
    job.refresh_from_db()
    return measured(job, slots, meter)


def long_run(environment: dict[str, str], videos: int) -> None:
    """Describe and extract; kill the engine with its host's processes at half, and continue."""
    from django.conf import settings

    from evaluation.utd.models import FrameText

    shard, settings.RAY_ADDRESS = 500, os.environ["ENGINE_RAY"]
    film(range(1))
    job = describe(videos, shard, DESCRIBERS["processor"], FRAMES, one_file=True)
    given = {**environment, "FOILWORKS_SHARD_ITEMS": str(shard)}
    process, killed, began = work("ray", 2, given), False, time.monotonic()
    while process.poll() is None or not killed:
        time.sleep(LOOK_S)
        job.refresh_from_db()
        say(seconds=round(time.monotonic() - began), done=job.done, total=job.total, **memory())
        if not killed and job.done > videos * FRAMES // 2:
            tree = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
            for each in tree:
                each.send_signal(signal.SIGKILL)
            process.wait()
            killed, process = True, work("ray", 2, given)
            say(killed=True)
    job.refresh_from_db()
    rows = FrameText.objects.filter(descriptions__job=job)
    distinct = rows.values("video", "place").distinct().count()
    attempts = sorted({shard.attempts for shard in job.shards.all()})
    say(state=job.state, rows=rows.count(), distinct=distinct, wanted=videos * FRAMES, attempts=attempts)


def memory() -> dict[str, float]:
    """Return the largest resident memory of an actor and of the engine, in MB."""
    found = {"actor": 0.0, "engine": 0.0}
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        said = " ".join(process.info["cmdline"] or [])
        kind = "actor" if said.startswith("ray::JobActor") else "engine" if "supervisor.ray_worker" in said else ""
        if kind and process.info["memory_info"]:
            found[kind] = max(found[kind], round(process.info["memory_info"].rss / 1e6))
    return found


def say(**found: Any) -> None:
    print(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}))
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", default="", help="numbers of workers (1,2,4,8, and 1,2 if bound by the processor)")
    parser.add_argument("--bound", choices=sorted(WORKERS), action="append", help="what a text takes; both by default")
    parser.add_argument("--long", type=int, default=0, metavar="VIDEOS", help="a long run instead")
    options = parser.parse_args()
    with lab() as (environment, services):
        if options.long:
            long_run(environment, options.long)
            return
        for bound in options.bound or ("wait", "processor"):
            numbers = (options.workers or WORKERS[bound]).split(",")
            scaling(environment, services, bound, [int(number) for number in numbers])


if __name__ == "__main__":
    main()
