"""A release with proficiency pairs, and models scored on it by files that are right where a test says so."""

import json
from collections.abc import Callable
from pathlib import Path

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project
from tests import factories

N = 24
Right = Callable[[int], bool]


def make_release(project: Project) -> Release:
    """24 items of two subtests of one test, two on each source; the first 12 have a valid proficiency pair."""
    simple = factories.make_subtest(project, name="things", kind="proficiency")
    subtests = [factories.make_subtest(project, name=name, test="motion") for name in ("up", "down")]
    for number in range(N):
        video = factories.make_video(project, source_dataset="d", source_id=f"s{number // 2}")
        caption = factories.make_caption(video, f"a ball moves {number}")
        easy = None
        if number < 12:
            noun = factories.make_caption(video, f"a thing {number}")
            easy = factories.make_item(simple, noun, (f"a hole {number}",), state=ItemState.VALID)
        foils = (f"a ball rests {number}",)
        factories.make_item(subtests[number % 2], caption, foils, state=ItemState.VALID, proficiency_item=easy)
    return freeze_release(None, project)


def number_of(record: dict) -> int:
    """The k of an item's caption, "a ball moves k"."""
    return int(record["caption"].split()[-1])


def score(release: Release, folder: Path, label: str, right: Right, able: Right | None = None, **options) -> Run:
    """A run of a score file that has item k right where `right(k)`, and its proficiency item where `able(k)`."""
    lines = []
    for record in records_of(release):
        k = number_of(record)
        line = {"id": record["id"], "caption": float(right(k)), "foils": [0.5]}
        if record["proficiency"]:
            line["proficiency"] = {"caption": float(able(k) if able else 1), "foils": [0.5]}
        lines.append(json.dumps(line))
    path = folder / f"{label}.jsonl"
    path.write_text("\n".join(lines))
    run = start_run(None, release, RunRequest(f"file:{path}", label=label, **options))
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run
