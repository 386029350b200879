"""Simulate people and a researcher who continue to work while processes around them die.

A person sends an answer with the same key until the server says that it is stored, as the page's outbox does.
Acknowledged answers are recorded here, and compared with the tables at the end.
"""

import http.client
import json
import random
import re
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx

from tests.foilworks.crowd import Person, Told, world
from tests.served_home import Browser

# Pauses between two attempts while the server is down, and between two tasks.
AGAIN_SECONDS, THINK_SECONDS = 0.15, 0.05
# Seconds within which our own database must be back after a kill.
PATIENCE_SECONDS = 180.0
BROKEN = (OSError, http.client.HTTPException)
CAPTIONS_PER_RUN = 30
CLIPS = 40
# A slow model that records each request before it answers.
SERVE = """
import hashlib, json, os, sys, time

if __name__ == "__main__":
    print(json.dumps({"protocol": 1, "model_id": "soak", "revision": "REVISION", "interface": "scorer", "kind": "logit",
                      "frames": 2, "size": None}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        key = asked["video"]["key"]
        with open("asked", "ab", buffering=0) as log:
            log.write((key + "\\n").encode())
        time.sleep(0.1)
        values = [int(hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:6], 16) / 2**24 for text in asked["texts"]]
        print(json.dumps({"id": asked["id"], "scores": values}), flush=True)
"""


@dataclass
class Diary:
    """What people know: acknowledged keys by stage, the errors they saw, and when."""

    acknowledged: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    requests: int = 0
    errors: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def went_well(self) -> None:
        with self.lock:
            self.requests += 1

    def went_wrong(self, why: str) -> None:
        with self.lock:
            self.requests += 1
            self.errors[why] += 1


class Outcome(Browser):
    """A browser that knows whether its last submit was acknowledged."""

    stored = False

    def _ask(self, method: str, url: str, body: str | None, headers: dict[str, str]) -> None:
        if "done=" in url:
            # Only the response to a submit redirects there.
            self.stored = True
        super()._ask(method, url, body, headers)
        self.stored = self.stored or "done=" in self.shown


class Hand(Person):
    """One person in one stage, until the diary is over; then until the current answer is stored."""

    def __init__(self, port: int, session: str, stage: str, diary: Diary, number: int) -> None:
        super().__init__(port, session, stage, Told(), number)
        self.browser, self.diary = Outcome(port, session), diary

    def work(self) -> None:
        give: Callable[[], dict[str, str]] = getattr(self, f"_{self.stage}")
        queue = f"/projects/crowd/work/{self.stage}/"
        while not self.diary.over.is_set():
            if 'id="answer"' in self.browser.page:
                self._answer(give)
            elif self._tried(lambda: self.browser.get(queue)):
                self._tried(lambda: self.browser.post(queue, {}))
                if 'id="answer"' not in self.browser.page:
                    time.sleep(4 * AGAIN_SECONDS)
            time.sleep(self.chance.uniform(0, 2 * THINK_SECONDS))

    def _answer(self, give: Callable[[], dict[str, str]]) -> None:
        """Send one answer until it is stored or refused, whatever dies meanwhile."""
        here, page = self.browser.url, self.browser.page
        fields = {**self.browser.hidden(), **give()}
        key = fields["idempotency_key"]
        while True:
            self.browser.page, self.browser.stored = page, False
            answered = self._tried(lambda: self.browser.post(here, fields, swap=self.has_scripts))
            if self.browser.stored:
                with self.diary.lock:
                    self.diary.acknowledged[self.stage].add(key)
                return
            if answered:
                with self.diary.lock:
                    self.diary.refused[f"{self.stage} {self.browser.status}: {self._what_it_says()}"] += 1
                self.browser.page = ""
                return

    def _what_it_says(self) -> str:
        """Return the title and the warning of a page that came instead of an acknowledgement."""
        parts = re.findall(r"<title>([^<]*)|(?:notice|toast|lede)[^>]*>([^<]*)", self.browser.page)
        return " ".join(" ".join(filter(None, map(str.strip, found))) for found in parts[:3]).strip()

    def _tried(self, ask: Callable[[], None]) -> bool:
        """Return whether the server responded without an error of its own."""
        try:
            ask()
        except BROKEN as error:
            self.diary.went_wrong(type(error).__name__)
            self.browser.connection.close()
            self.browser.page = ""
        else:
            if self.browser.status < 500:
                self.diary.went_well()
                return True
            self.diary.went_wrong(str(self.browser.status))
            self.browser.page = ""
        time.sleep(AGAIN_SECONDS)
        return False


@dataclass
class Researcher:
    """Start run after run: generation by the API, one key per run; scoring as the operator, a new model each."""

    port: int
    token: str
    subtest: int
    release: int
    models: Path
    diary: Diary
    seed: int = 0
    generated: list[int] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)

    def generate(self) -> None:
        chance, number = random.Random(f"runs {self.seed}"), 0
        while not self.diary.over.is_set():
            number += 1
            keys = [f"c{k}" for k in chance.sample(range(self.captions()), CAPTIONS_PER_RUN)]
            body = {
                "subtest": self.subtest,
                "method": "fake",
                "params": {"foils": 1},
                "filters": {},
                "seed": number,
                "selection": {"caption_keys": keys},
            }
            answer = self._post("/api/v1/projects/crowd/runs", body, uuid.uuid4().hex)
            self.generated.append(answer["id"])
            self._over("generation", answer["id"])

    def score(self, who: int) -> None:
        number = 0
        while not self.diary.over.is_set():
            number += 1
            folder = self.models / f"model-{who}-{number}"
            folder.mkdir()
            (folder / "serve.py").write_text(SERVE.replace("REVISION", folder.name))
            (folder / "foilworks.json").write_text(json.dumps({"command": ["{python}", "serve.py"]}))
            run = persistent(lambda folder=folder: self._start(folder))
            self.scored.append(run)
            self._over("scoring", run)

    def _start(self, folder: Path) -> int:
        from evaluation.scoring.actions.start_run import start_run
        from evaluation.scoring.models import Run
        from evaluation.scoring.run_request import RunRequest
        from foilworks.core.corpus.models import Release

        spec = f"external:{folder}"
        # The response to the commit may have been lost with its server.
        found = Run.objects.filter(spec=spec).first()
        return (found or start_run(None, Release.objects.get(pk=self.release), RunRequest(spec, device="cpu"))).pk

    def _post(self, path: str, body: dict[str, Any], key: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        while True:
            try:
                answer = httpx.post(f"http://127.0.0.1:{self.port}{path}", json=body, headers=headers, timeout=60)
            except httpx.TransportError as error:
                self.diary.went_wrong(type(error).__name__)
            else:
                if answer.status_code < 300:
                    self.diary.went_well()
                    return answer.json()
                if answer.status_code < 500:
                    raise RuntimeError(f"{answer.status_code}: {answer.text[:300]}")
                self.diary.went_wrong(str(answer.status_code))
            time.sleep(AGAIN_SECONDS)

    def _over(self, kind: str, pk: int) -> None:
        """Wait for the run's job; resume a run that a full disk ended, as its page suggests."""
        while not persistent(lambda: went_on(kind, pk)):
            time.sleep(2 * AGAIN_SECONDS)

    def captions(self) -> int:
        from foilworks.core.corpus.models import Caption

        return persistent(lambda: Caption.objects.filter(video__project__slug="crowd").count())


def went_on(kind: str, pk: int) -> bool:
    """Return whether the run's job is done; a failed one is queued again."""
    from evaluation.scoring.models import Run
    from foilworks.core.jobs.models import JobState
    from foilworks.core.jobs.queue import retry
    from generation.models import GenerationRun

    job = (Run if kind == "scoring" else GenerationRun).objects.select_related("job").get(pk=pk).job
    if job.state == JobState.FAILED:
        retry(job)
    return job.state == JobState.DONE


def persistent(ask: Callable[[], Any]) -> Any:
    """Query our own database; reconnect while it is down, but not for ever."""
    from django.db import InterfaceError, OperationalError, connection

    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except (OperationalError, InterfaceError):
            if time.monotonic() > until:
                raise
            connection.close()
            time.sleep(AGAIN_SECONDS)


def guarded(diary: Diary, who: str, work: Callable[[], None]) -> threading.Thread:
    """Run the work in a thread; an unexpected exception is a finding."""

    def run() -> None:
        from django.db import connection

        try:
            work()
        except Exception as error:  # noqa: BLE001 (whatever ends somebody's day is a finding)
            diary.findings.append(f"{who}: {type(error).__name__}: {error}")
        finally:
            connection.close()

    # A daemon: if the program fails, it does not wait for people who still try to send.
    thread = threading.Thread(target=run, name=who, daemon=True)
    thread.start()
    return thread


def start_people(port: int, diary: Diary, items: int, numbers: Mapping[str, int]) -> list[threading.Thread]:
    """Start so many people per role on `items` captions, with the clips of their pages."""
    from django.conf import settings

    from foilworks.core.media.encode import write_mp4
    from tests.media.painted import painted_clip

    media = Path(settings.MEDIA_ROOT)
    media.mkdir(parents=True, exist_ok=True)
    for name in ("none.mp4", "clip.mp4"):
        write_mp4(media / name, painted_clip(4), fps=8)
    people = {f"{role}s": number for role, number in numbers.items()}
    sessions = world(SimpleNamespace(items=items, reviewed=1.0, **people))
    desks = {"validation": "validator", "edit": "annotator", "review": "reviewer"}
    hands = [
        Hand(port, session, stage, diary, number)
        for stage, role in desks.items()
        for number, session in enumerate(sessions[role])
    ]
    return [guarded(diary, f"{hand.stage} {hand.number}", hand.work) for hand in hands]
