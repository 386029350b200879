"""Simulate a crowd against the running server: 40 annotators, reviewers and 101 validators, over HTTP, on PostgreSQL.

Everybody has a browser session and the CSRF token of their page, and continues from what their pages show. Annotators
accept suggestions or write their own, reviewers accept, validators judge; some skip, some send twice, some leave. At
the end nothing may be lost or counted twice: every item has exactly its votes, nobody has judged a video that they had
worked on, the caption was first half of the time, and `foilworks check` finds nothing.

    .venv/bin/python -m tests.foilworks.crowd --items 846        # a tenth of ViLMA's size
    .venv/bin/python -m tests.foilworks.crowd --items 8460
"""

import argparse
import html
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.served_home import Browser, own_home, serving, session_of

ANSWERS = ("first", "second", "neither", "both", "cannot_tell")
_TEXTAREA = re.compile(r'<textarea[^>]*name="text"[^>]*>([^<]*)</textarea>')
_PARENT = re.compile(r'<input[^>]*name="parent"[^>]*value="(\d*)"')
# An empty queue may fill again while others work: an idle person checks again after this many seconds.
LOOKS_AFTER = 2.0
# A shift without progress ends after this many seconds.
MAX_SHIFT = 1800.0


@dataclass
class Told:
    """What people saw: the number of stored answers per stage, repeated ones, skips and errors."""

    stored: Counter = field(default_factory=Counter)
    twice: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    # The work is done: everybody checks once more, and stops if nothing is left.
    over: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=846)
    parser.add_argument("--annotators", type=int, default=40)
    parser.add_argument("--reviewers", type=int, default=8)
    parser.add_argument("--validators", type=int, default=101)
    parser.add_argument("--reviewed", type=float, default=1.0, help="share of the edits that reviewers see")
    parser.add_argument("--sqlite", action="store_true")
    options = parser.parse_args()
    with own_home(sqlite=options.sqlite):
        print(json.dumps({**vars(options), **measure(options)}, indent=1))


def measure(options: argparse.Namespace) -> dict[str, object]:
    people = world(options)
    began = time.monotonic()
    with serving() as server:
        told = work(server.port, people, options.items)
        cpu = server.cpu_seconds()
    took = time.monotonic() - began
    found = account(options.items, told)
    return {**found, "seconds": round(took, 1), "server_cpu_s": round(cpu, 1)}


def world(options: argparse.Namespace) -> dict[str, list[str]]:
    """Create a project whose captions each have a waiting suggestion; return the sessions of its people by role.

    A tenth of the people have two roles: the leakage rule is for them.
    """
    from annotation.models import ReviewPolicy
    from foilworks.core.corpus.models import Caption, MediaState, Subtest, Video
    from foilworks.core.projects.models import Membership, Project, Role, User
    from generation.models import Candidate, CandidateGroup, GenerationRun

    project = Project.objects.create(slug="crowd", name="Crowd", is_simulated=True)
    subtest = Subtest.objects.create(project=project, name="actions")
    ReviewPolicy.objects.create(project=project, rate=options.reviewed, second_share=0.0)
    run = GenerationRun.objects.create(project=project, subtest=subtest, method="fake", method_version="1")
    ready = {"media_state": MediaState.READY, "file": "none.mp4", "duration": 2.0, "fps": 12.0, "n_frames": 24}
    # Two captions per video, so that the rule about videos applies.
    videos = Video.objects.bulk_create(
        Video(project=project, key=f"v{k}", **ready) for k in range((options.items + 1) // 2)
    )
    texts = [f"person {k} folds a shirt." for k in range(options.items)]
    captions = Caption.objects.bulk_create(
        Caption(video=videos[k // 2], key=f"c{k}", text=text, text_sha256=f"{k:064d}") for k, text in enumerate(texts)
    )
    groups = CandidateGroup.objects.bulk_create(CandidateGroup(run=run, caption=caption) for caption in captions)
    Candidate.objects.bulk_create(
        Candidate(
            group=group,
            text=text.replace("folds", "unfolds"),
            text_sha256=f"{k:064d}",
            state="queued",
            method="fake",
            method_version="1",
            source="folds",
            target="unfolds",
            span_start=text.index("folds"),
            span_end=text.index("folds") + 5,
            edits=[[text.index("folds"), text.index("folds") + 5, "unfolds"]],
        )
        for k, (group, text) in enumerate(zip(groups, texts, strict=True))
    )
    wanted = {
        Role.ANNOTATOR: options.annotators,
        Role.REVIEWER: options.reviewers,
        Role.VALIDATOR: options.validators,
    }
    people: dict[str, list[str]] = {}
    for role, number in wanted.items():
        users = [User.objects.create(username=f"{role}{k}", is_simulated=True) for k in range(number)]
        Membership.objects.bulk_create(Membership(project=project, person=user, role=role) for user in users)
        if role != Role.VALIDATOR:
            both = users[: max(1, number // 10)]
            Membership.objects.bulk_create(Membership(project=project, person=u, role=Role.VALIDATOR) for u in both)
        people[role] = [session_of(user) for user in users]
    people["both"] = [
        *people[Role.ANNOTATOR][: max(1, options.annotators // 10)],
        *people[Role.REVIEWER][: max(1, options.reviewers // 10)],
    ]
    return people


def work(port: int, people: dict[str, list[str]], items: int) -> Told:
    """Run edits and reviews first, in parallel; then everybody who may judge, including those with two roles."""
    from annotation.models import Vote
    from foilworks.core.corpus.models import Item

    told = Told()
    making = [("edit", session) for session in people["annotator"]] + [("review", s) for s in people["reviewer"]]
    judging = [("validation", session) for session in [*people["validator"], *people["both"]]]
    for shift, rows, wanted in ((making, Item.objects, items), (judging, Vote.objects, 3 * items)):
        told.over.clear()
        threads = [
            threading.Thread(target=_guarded, args=(Person(port, session, stage, told, number),))
            for number, (stage, session) in enumerate(shift)
        ]
        for thread in threads:
            thread.start()
        until = time.monotonic() + MAX_SHIFT
        while rows.count() < wanted and not told.errors and time.monotonic() < until:
            time.sleep(0.5)
        told.over.set()
        for thread in threads:
            thread.join()
    return told


def _guarded(person: "Person") -> None:
    try:
        person.work()
    except Exception as error:  # noqa: BLE001 (whatever ends a person's day is a finding)
        person.told.errors.append(f"{person.stage}: {type(error).__name__}: {error}")


class Person:
    """One person in one stage, until its work is done and nothing is left."""

    def __init__(self, port: int, session: str, stage: str, told: Told, number: int) -> None:
        self.browser, self.stage, self.told, self.number = Browser(port, session), stage, told, number
        self.chance = random.Random(f"{stage}/{number}")
        # One in eight has a browser without scripts, which loads each page.
        self.has_scripts = number % 8 != 0

    def work(self) -> None:
        give: Callable[[], dict[str, str]] = getattr(self, f"_{self.stage}")
        queue = f"/projects/crowd/work/{self.stage}/"
        self.browser.get(queue)
        while not self.told.errors:
            is_last = self.told.over.is_set()
            self.browser.post(queue, {})
            while 'id="answer"' in self.browser.page:
                is_last = False
                self._one(give)
            if is_last:
                return
            self.told.over.wait(LOOKS_AFTER * self.chance.uniform(0.5, 1.5))

    def _one(self, give: Callable[[], dict[str, str]]) -> None:
        if self.chance.random() < 0.02:
            # Returns the task; this person gets it again last.
            skip = re.search(r'<form id="skip"[^>]*action="([^"]+)"', self.browser.page)
            self.browser.post(skip.group(1), {})
            self.told.skipped += 1
            return
        here, page = self.browser.url, self.browser.page
        fields = {**self.browser.hidden(), **give()}
        self.browser.post(here, fields, swap=self.has_scripts)
        if self.browser.status != 200:
            raise RuntimeError(f"{self.browser.status}: {self.browser.page[:300]}")
        with self.told.lock:
            self.told.stored[self.stage] += 1
        if self.chance.random() < 0.03:
            # The network was slow, and the person pressed again: the same form with the same key.
            after = (self.browser.url, self.browser.page)
            self.browser.page = page
            self.browser.post(here, fields)
            self.told.twice += 1
            self.browser.url, self.browser.page = after

    def _edit(self) -> dict[str, str]:
        text = html.unescape(_TEXTAREA.search(self.browser.page).group(1))
        parent = _PARENT.search(self.browser.page)
        if self.chance.random() < 0.3:
            text = re.sub("unfolds|folds", self.chance.choice(("burns", "irons", "paints")), text)
        return {"text": text, "parent": parent.group(1) if parent else "", "seconds": "7.5"}

    def _review(self) -> dict[str, str]:
        if self.chance.random() < 0.05:
            return {"decision": "send_back", "reasons": "other", "comment": "look again", "seconds": "3.0"}
        return {"decision": "accept", "seconds": "3.0"}

    def _validation(self) -> dict[str, str]:
        # From the page alone: the text with only "folds" is the caption. One in twelve errs.
        first = re.search(r'class="pair">(.*?)</ol>', self.browser.page, re.DOTALL).group(1)
        sentences = re.findall(r'class="sentence"[^>]*>(.*?)</p>', first, re.DOTALL)
        texts = [re.sub("<[^>]+>", "", text) for text in sentences]
        right = "first" if " folds " in texts[0] else "second"
        answer = right if self.chance.random() < 0.92 else self.chance.choice(ANSWERS)
        return {"answer": answer, "watch_seconds": "2.0", "watch_loops": "1", "watch_covered": "1.0", "seconds": "4.0"}


def account(items: int, told: Told) -> dict[str, object]:
    """Compare what is stored with what was sent. Raises AssertionError on a difference."""
    from django.db.models import Count

    from annotation.models import Edit, Involvement, Review, Slot, Stage, Vote
    from foilworks.core.corpus.models import Item
    from foilworks.site.invariants.registry import violations

    assert told.errors == [], told.errors[:5]
    votes = Vote.objects.filter(stage=Stage.VALIDATION)
    a_pair = Counter(
        votes.filter(state="counted").values_list("item").annotate(n=Count("pk")).values_list("n", flat=True)
    )
    broken = [row for row in violations() if not row["invariant"].startswith("media.")]
    hands = set(Involvement.objects.exclude(kind="judged").values_list("person", "video"))
    leaked = [v.pk for v in votes.select_related("item") if (v.person_id, v.item.video_id) in hands]
    first, total = votes.filter(caption_first=True).count(), votes.count()
    reach = 1.96 * (0.25 / total) ** 0.5
    stored = {"edit": Edit.objects.count(), "review": Review.objects.count(), "validation": total}
    found = {
        "stored": stored,
        "votes_an_item": dict(a_pair),
        "items": Item.objects.count(),
        "states": dict(Item.objects.values_list("state").annotate(n=Count("pk"))),
        "sent_twice": told.twice,
        "skipped": told.skipped,
        "rule_1_broken": len(leaked),
        "caption_first": round(first / total, 4),
        "interval_of_half": [round(0.5 - reach, 4), round(0.5 + reach, 4)],
        "check": broken[:5],
    }
    assert stored == dict(told.stored), (stored, dict(told.stored))
    assert found["items"] == items, found
    assert dict(a_pair) == {3: items}, found
    assert leaked == [], found
    assert broken == [], found
    assert abs(first / total - 0.5) <= reach, found
    assert not Slot.objects.filter(state__in=["free", "leased"], stage=Stage.VALIDATION).exists(), found
    return found


if __name__ == "__main__":
    main()
