"""Drive Foilworks from the load script that measures annotation products side by side (peerbench, `--driver-file`).

    peerbench.py loop --driver-file benchmarks/peerbench_driver.py --base http://127.0.0.1:8000 --opt token=fw_…

The token belongs to a site administrator and has the scope `manage` (`foilworks token NAME`). Start the server with
API_RATE_LIMIT_PER_MINUTE=0: a closed loop without think time sends more requests than a person. The script runs with
the project's own Python, and provides `Driver`, `Http`, `CHOICES` and the rest. The measured requests go through its
`Http`, as those of the other products do: they share the processors with the server.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent if "__file__" in globals() else Path.cwd()
sys.path.insert(0, str(ROOT))

from foilworks.client import Client  # noqa: E402

# As a validator says it; "caption" and "foil" mean the first and the second text, since a validator knows no more.
ANSWERS = {"caption": "first", "foil": "second", "both": "both", "neither": "neither", "unsure": "cannot_tell"}


class TaskOfWork(int):
    """The id of a task, with the token of its lease."""

    token: str


class Foilworks(Driver):  # noqa: F821
    name = "foilworks"
    ready_selector = "form#answer input[type=radio], form#answer button"

    def prepare(self):
        self.client = Client(self.base, self.opts["token"], timeout=600)
        self.overlap = 3
        self.stamp = f"{time.time():.0f}"
        self.clip = _clip()

    def make_users(self, n):
        """Create accounts in a project of their own; `join` adds them to the measured one."""
        pool = self.client.create_project(f"people-{self.stamp}")["slug"]
        told = {"roles": ["validator"], "new_account": True, "with_token": True}
        return [self.client.add_member(pool, f"ann{k}-{self.stamp}", **told) for k in range(n)]

    def make_project(self, title, overlap):
        slug = f"bench-{time.time():.3f}".replace(".", "-")
        self.client.create_project(slug, title, edit_stage=False)
        needed = overlap // 2 + 1
        self.client.create_subtest(slug, "judged", votes_wanted=overlap, votes_needed=needed)
        return slug

    def import_tasks(self, pid, tasks):
        rows = []
        for task in tasks:
            key = Path(task["video"]).stem
            foil = task["foil"] if task["foil"] != task["caption"] else task["foil"] + " again"
            clip = {"video": "clip.mp4", "video_key": key, "subtest": "judged"}
            rows.append({"id": task["ref"], "caption": task["caption"], "foil": foil, **clip})
        result = self.client.import_records(pid, rows, videos={"clip.mp4": self.clip})
        assert not result["errors"], result["errors"][:3]
        return result["created"]["items"]

    def join(self, pid, users):
        for user in users:
            self.client.add_member(pid, user["username"], ["validator"])

    class Session:
        def __init__(self, driver, user, pid):
            self.http = Http(driver.base, {"Authorization": f"Bearer {user['token']}"})  # noqa: F821
            self.claim, self.at_hand = f"/api/v1/projects/{pid}/queues/validation/claim", None

        def next(self):
            """Return the task that came with the response to the last submit; else claim one."""
            work = self.at_hand or self.http.json("POST", self.claim)
            if work is None:
                return None
            task = TaskOfWork(work["task"])
            task.token = work["token"]
            return task

        def submit(self, task, choice):
            answer, key = {"answer": ANSWERS[choice]}, {"Idempotency-Key": task.token}
            told = self.http.json("POST", f"/api/v1/work/{task.token}/submit?next=true", json_body=answer, headers=key)
            self.at_hand = told.get("next")

    def session(self, user, pid):
        return self.Session(self, user, pid)

    def stored(self, pid):
        return [(vote["task"], vote["annotator"]) for vote in self.client.votes(pid)]

    def export(self, pid):
        lines = [json.dumps(vote) for vote in self.client.votes(pid)]
        return sum(len(line) + 1 for line in lines), len(lines)

    def page(self, user, pid):
        return f"/projects/{pid}/work/validation/", {}


def _clip():
    """Return a video of one second: every task of the benchmark is a clip of it."""
    import numpy as np

    from foilworks.core.media.encode import write_mp4

    frames = np.zeros((8, 48, 64, 3), dtype=np.uint8)
    for number, frame in enumerate(frames):
        frame[16:32, 4 * number : 4 * number + 16] = 200
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_mp4(path, frames, fps=8)
        return path.read_bytes()


DRIVER = Foilworks
