"""Moving a threshold on 100,000 candidates: server time of the answer, its queries, and of applying it.

Makes a home of its own, so that nothing of yours is touched. `first` reads the scores from the tables and files them;
`moved` is what every later move costs, the slowest of several.

    .venv/bin/python benchmarks/thresholds.py [--candidates 100000]
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Before this folder, which holds files of the packages' names.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

FILTERS = {
    "grammaticality": ({"min": 0.8}, 0.8, False),
    "nli": ({"max_entailment": 0.5}, 0.5, True),
    "perplexity": ({"max_change": 0.6, "max_perplexity": 0.0}, 0.6, True),
    "sentence_similarity": ({"max": 0.8}, 0.8, True),
}
A_CAPTION = 5
MOVES = ({"nli": 0.9}, {"nli": 0.1}, {"nli": 0.9, "perplexity": 0.9, "grammaticality": 0.1}, {"grammaticality": 0.0})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foilworks-benchmark-") as home:
        os.environ["FOILWORKS_HOME"] = home
        os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.settings"
        print(json.dumps({**vars(options), **measure(options.candidates)}))


def measure(candidates: int) -> dict[str, object]:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection, reset_queries
    from django.test import Client
    from django.urls import reverse

    call_command("migrate", verbosity=0)
    run, person = _world(candidates)
    client = Client(SERVER_NAME="localhost")
    client.force_login(person)
    path = reverse("generation:thresholds", args=[run.project.slug, run.pk])

    def asked(thresholds: dict[str, float], **headers: str) -> tuple[float, float]:
        reset_queries()
        began = time.perf_counter(), time.process_time()
        response = client.get(path, thresholds, headers=headers)
        took = 1000 * (time.perf_counter() - began[0]), 1000 * (time.process_time() - began[1])
        assert response.status_code == 200, response
        assert f"of {candidates}<".encode() in response.content
        return took

    first = asked({"nli": 0.9})
    moved = [asked(thresholds, **{"HX-Request": "true"}) for _ in range(3) for thresholds in MOVES]
    connection.force_debug_cursor = True
    asked(MOVES[0], **{"HX-Request": "true"})
    queries = len(connection.queries)
    connection.force_debug_cursor = False
    began = time.perf_counter()
    response = client.post(path, {"nli": "0.9", "perplexity": "0.9", "apply": "1"})
    assert response.status_code == 302, response
    run.refresh_from_db()
    return {
        "ms_first": round(first[0]),
        "ms_moved_slowest": round(max(wall for wall, _ in moved)),
        "ms_moved_median": round(float(np.median([wall for wall, _ in moved]))),
        "cpu_ms_moved_slowest": round(max(cpu for _, cpu in moved)),
        "queries_moved": queries,
        "seconds_apply": round(time.perf_counter() - began, 1),
    }


def _world(candidates: int) -> tuple[object, object]:
    from corpus.models import Caption, Subtest, Video
    from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun
    from projects.models import Membership, Project, Role, User

    project = Project.objects.create(slug="benchmark", name="Benchmark")
    person = User.objects.create_user("owner")
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    rows = [{"slug": slug, "params": params, "version": "1"} for slug, (params, _, _) in FILTERS.items()]
    run = GenerationRun.objects.create(
        project=project,
        subtest=Subtest.objects.create(project=project, name="verbs"),
        method="mask_fill",
        method_version="1",
        filters=rows,
    )
    captions = candidates // A_CAPTION
    videos = Video.objects.bulk_create([Video(project=project, key=f"v{k}") for k in range(captions)], 500)
    made = [
        Caption(video=video, key=video.key, text=f"a man folds thing {k}.", text_sha256=f"{k:064d}")
        for k, video in enumerate(videos)
    ]
    groups = [CandidateGroup(run=run, caption=caption) for caption in Caption.objects.bulk_create(made, 500)]
    CandidateGroup.objects.bulk_create(groups, 500)
    scores = np.random.default_rng(0).random((candidates, len(FILTERS)))
    passed = np.stack(
        [scores[:, at] < bar if below else scores[:, at] >= bar for at, (_, bar, below) in enumerate(FILTERS.values())],
        axis=1,
    )
    foils = [
        Candidate(
            group=groups[k // A_CAPTION],
            rank=k % A_CAPTION,
            text=f"a man tears {k % A_CAPTION} thing.",
            text_sha256="0",
            method="mask_fill",
            method_version="1",
            span_start=0,
            span_end=1,
            state="queued" if passed[k].all() else "filtered_out",
        )
        for k in range(captions * A_CAPTION)
    ]
    Candidate.objects.bulk_create(foils, 500)
    FilterScore.objects.bulk_create(
        (
            FilterScore(
                run=run,
                candidate=foil,
                filter=slug,
                filter_version="1",
                score=float(scores[k, at]),
                passed=bool(passed[k, at]),
            )
            for k, foil in enumerate(foils)
            for at, slug in enumerate(FILTERS)
        ),
        500,
    )
    return run, person


if __name__ == "__main__":
    main()
