"""The installation of docs/deploy.md by processes: the walk of the browser on it, then a release scored over its store.

2 web processes, 2 workers of short jobs, 1 that scores, PostgreSQL, Redis and an S3-compatible store; each host has a
home of its own.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from foilworks.core.media.encode import write_mp4
from tests.foilworks.hosts import SERVE
from tests.foilworks.topology import DATABASE, ROOT, Topology, running_topology
from tests.media.painted import painted_clip

WALK = "tests/e2e/test_annotation_walk.py::test_a_clip_becomes_a_valid_item_by_keyboard_alone"
CLIPS = 3

pytestmark = [pytest.mark.full, pytest.mark.slow(seconds=25)]


@pytest.fixture(scope="module")
def topology(tmp_path_factory) -> Iterator[Topology]:
    with running_topology(tmp_path_factory.mktemp("topology")) as found:
        yield found


def test_a_clip_becomes_a_valid_item_in_a_browser_on_it(topology):
    """The walk's own process makes the tables, puts the clip into the store, and looks at rows; the rest is theirs."""
    given = {f"FOILWORKS_TEST_{name}": topology.environment[name] for name in ("REDIS_URL", "STORAGE_URL")}
    given["FOILWORKS_TEST_DATABASE_URL"] = topology.server.url(DATABASE)
    given["FOILWORKS_TEST_SITE"] = topology.site
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--reuse-db", WALK]
    done = subprocess.run(
        command, cwd=ROOT, env={**topology.of("browser"), **given}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + topology.logs()
    assert "1 passed" in done.stdout
    assert len([name for name in topology.store.files() if name.endswith(".mp4")]) == 1


def test_a_release_is_scored_from_the_store_by_the_host_that_scores(topology, tmp_path):
    lines = []
    for number in range(CLIPS):
        write_mp4(tmp_path / f"{number}.mp4", painted_clip(4 + number), fps=8)
        votes = {"caption": 3, "foil": 0, "other": 0}
        texts = {"caption": f"a ball rises {number} times.", "foil": f"a ball falls {number} times."}
        lines.append(json.dumps({"id": str(number), "video": f"{number}.mp4", **texts, "votes": votes}))
    (tmp_path / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    model = tmp_path / "model"
    model.mkdir()
    (model / "serve.py").write_text(SERVE)
    (model / "go").touch()
    (model / "foilworks.json").write_text(json.dumps({"command": ["{python}", "serve.py"]}))
    imported, _, run, generation = topology.foilworks(
        f"import jsonl {tmp_path}/items.jsonl --project balls --create --media {tmp_path}",
        "release --project balls --name one",
        f"evaluate model external:{model} --project balls --release one --device cpu",
        "generate --project balls --method fake --filters=",
    )
    assert imported["errors"] == []
    assert [topology.job(each["job"]) for each in (run, generation)] == ["done", "done"]
    assert topology.rows("SELECT count(*) FROM evaluation_score") == [(2 * CLIPS,)]
    # The clips came over the store, to the hosts that needed them (short jobs make film strips), and stay in no other
    # place than their caches.
    fetched = {host: len(list((topology.folder / host).glob("cache/clips/??/*"))) for host in ("scoring", "web")}
    assert fetched == {"scoring": CLIPS, "web": 0}
    hosts = [topology.folder / host for host in ("web", "short", "scoring", "desk")]
    assert not [path for host in hosts for path in host.rglob("*.mp4")]
    sound, doctor = topology.foilworks("check", "doctor", host="web")
    assert sound["ok"]
    storage = next(one for one in doctor["checks"] if one["name"] == "storage")
    assert (storage["state"], storage["found"]) == ("ok", f"bucket media at {topology.store.url}")


def test_one_web_process_is_lost_and_the_pages_stay(topology):
    first = topology.processes["web"].children()[0]
    first.send_signal(signal.SIGKILL)
    for _ in range(4):
        topology.until(lambda: topology.status() == 200)
    topology.until(lambda: len(topology.processes["web"].children()) == 2)
