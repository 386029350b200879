"""An informed cheater: judges without watching and without reading, by everything else that reaches a browser.

They have the source, and of every piece its page, its API card, the queue, all addresses and headers, sizes, order and
the number of SQL statements of each answer, which is what its time is made of. They lack the clip's bytes and the
words of the two sentences. For the caption's place they even have all row numbers.
"""

import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from scipy.stats import binomtest
from sklearn.ensemble import HistGradientBoostingClassifier

from annotation.actions.people import assign
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import GoldPair, Lease, QualityPolicy, Slot, Stage, Task, Use, Vote
from annotation.queries.assignments import open_assignments
from annotation.queries.queues import open_work
from annotation.rules.ordering import caption_first
from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Video
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, Project, Role, User
from tests import factories

RATE = 0.2
SURE = 0.999
# When files of the batch and of what was decided before came in: seconds since 1970.
STORED_AT = {False: 1_800_000_000, True: 1_700_000_000}
# Drawn afresh for every answer, or as long as the words and the clip are.
LEFT_OUT = ("X-Request-ID", "Date", "Set-Cookie", "Content-Length")
SENTENCES = re.compile(r'<p class="sentence".*?</p>|"texts": \[.*?\]', re.DOTALL)
WORDS = re.compile(r"[\w.-]+")


@dataclass
class Piece:
    """One judgement: what was known before it was answered, and what it was."""

    known: dict[str, float]
    caption_first: bool
    is_gold: bool
    rows: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tried:
    """How often the cheater was right, and how often chance is."""

    right: int
    tries: int
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        found = binomtest(self.right, self.tries).proportion_ci(SURE)
        return found.low, found.high


def build(seed: int, pieces: int) -> tuple[Project, User]:
    """A batch that waits for votes, and gold made of items that were decided before it came.

    Two of four people have a quota.
    """
    random = Random(seed)
    project = factories.make_project(slug=f"cheated-{seed}")
    subtest = factories.make_subtest(project, votes_wanted=random.choice([1, 3]), votes_needed=1)
    golden = _items(project, subtest, round(pieces * RATE) + 5, f"v_CricketBowling_{seed}", old=True)
    for number, foil in enumerate(golden):
        mismatched, item = number % 2 == 1, foil.item
        video = golden[number - 1].item.video if mismatched else item.video
        texts = {"caption_text": item.caption.text, "foil_text": foil.text}
        made = {"use": Use.MIXED, "mismatched": mismatched, "answer": "neither" if mismatched else "caption"}
        GoldPair.objects.create(project=project, subtest=subtest, video=video, item=item, foil=foil, **texts, **made)
    never = {"gold_min": 30_000, "position_min": 30_000}
    QualityPolicy.objects.create(project=project, secret=random.getrandbits(53), gold_rate=RATE, **never)
    _items(project, subtest, pieces, f"batch_{seed}", old=False)
    make_tasks(project)
    person = factories.make_member(project, Role.VALIDATOR, name=f"cheater-{seed}")
    if seed % 4 < 2:
        owner = factories.make_member(project, Role.RESEARCHER, name=f"owner-{seed}")
        assign(owner, project, [person.pk], Stage.VALIDATION, pieces, due=date.max, team="cheaters")
    return project, person


def _items(project: Project, subtest: Any, number: int, name: str, *, old: bool) -> list[Foil]:
    """Items of clips with a file each, all as long; the old ones are decided."""
    ready = {"project": project, "media_state": MediaState.READY, "duration": 2.0, "fps": 12.0}
    Path(settings.MEDIA_ROOT).mkdir(parents=True, exist_ok=True)
    videos = [Video(key=f"{name}_{n}", file=f"{name}_{n}.mp4", sha256=factories.sha(f"{name} {n}"), **ready)
              for n in range(number)]  # fmt: skip
    for video in videos:
        path = Path(settings.MEDIA_ROOT, video.file.name)
        path.write_bytes(video.sha256.encode())
        os.utime(path, (STORED_AT[old], STORED_AT[old]))
    captions = [Caption(video=video, key=video.key, text=f"caption {video.key}.", text_sha256=factories.sha(video.key))
                for video in Video.objects.bulk_create(videos)]  # fmt: skip
    state = "valid" if old else "in_validation"
    of = {"project": subtest.project, "subtest": subtest, "state": state}
    items = [Item(**of, video=caption.video, caption=caption, key=caption.key)
             for caption in Caption.objects.bulk_create(captions)]  # fmt: skip
    verdict = FoilVerdict.VALID if old else FoilVerdict.PENDING
    return Foil.objects.bulk_create(
        Foil(
            item=item, position=0, text=f"foil {item.key}.", text_sha256=factories.sha(f"f{item.key}"), verdict=verdict
        )
        for item in Item.objects.bulk_create(items)
    )


def judge(project: Project, person: User, pieces: int) -> list[Piece]:
    """The person's pieces, each with all that was there to see before its answer was sent."""
    client, found = Client(), []
    client.force_login(person)
    api = {"Authorization": f"Bearer {make_token(person, name='cheat', scope=ApiToken.Scope.WORK).secret}"}
    work = f"/projects/{project.slug}/work/validation/"
    address = _asked(client, "post", work)[0]["Location"]
    page, cost = _asked(client, "get", address)
    ahead = ""
    for number in range(pieces):
        text, token = page.content.decode(), address.split("?")[0].rstrip("/").split("/")[-1]
        lease = Lease.objects.select_related("slot__task").get(token=token)
        clip, following = _clips(text)
        # Pages beside the judgement's own now and then, for they cost as much; the queue's number at every piece.
        card = ("card", f"/api/v1/work/{token}", api)
        others = [("queue", work, {})] * (number % 10 == 0) + [card] * (number % 4 == 0)
        known = {"number": number, "is ahead": clip == ahead, "names a next": bool(following)}
        known |= {"page statements": cost, **_of_answer("page", page)}
        known |= _numbers_of_queue(project, person)
        for name, url, headers in (("clip", clip, {}), *others):
            answer, statements = _asked(client, "head" if name == "clip" else "get", url, headers=headers)
            known |= {f"{name} statements": statements, **_of_answer(name, answer)}
        found.append(Piece(known, lease.caption_first, lease.slot.stage == Stage.GOLD, _rows(lease, found)))
        sent = {"idempotency_key": f"{person.pk}-{number}", "answer": "cannot_tell", "seconds": "3"}
        page, cost = _asked(client, "post", address.split("?")[0], sent, headers={"X-Foilworks-Swap": "1"})
        # An answer can be undone: what shows afterwards that it was gold is in time as well.
        known |= {f"{name} afterwards": value for name, value in _numbers_of_queue(project, person).items()}
        if "X-Foilworks-Url" not in page:
            break
        address, ahead = page["X-Foilworks-Url"], following
    # The first came as a whole page.
    return found[1:]


def _numbers_of_queue(project: Project, person: User) -> dict[str, float]:
    """The tasks that the queue counts, and the progress of the person's quota."""
    n_done = sum(row.done for row in open_assignments(project, date.min, person))
    return {"queue's number": open_work(person, project, Stage.VALIDATION), "done of quota": n_done}


def _asked(client: Client, method: str, url: str, *sent: Any, **also: Any) -> tuple[HttpResponseBase, int]:
    statements = []

    def count_statement(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count_statement):
        answer = getattr(client, method)(url, *sent, **also)
    assert answer.status_code < 400, (url, answer.status_code)
    return answer, len(statements)


def _clips(page: str) -> tuple[str, str]:
    """The address of the clip on the page, and of the one that is loaded ahead."""
    shown, ahead = re.search(r'<video src="([^"]+)"', page), re.search(r'data-next-clip="([^"]+)"', page)
    return shown.group(1), ahead.group(1) if ahead else ""


def _of_answer(name: str, answer: HttpResponseBase) -> dict[str, float]:
    """Every number and every length in the headers and in what stands around the sentences."""
    body = "" if answer.streaming else SENTENCES.sub("", answer.content.decode())
    known: dict[str, float] = {f"{name} bytes": len(body)}
    for header, value in answer.items():
        if header not in LEFT_OUT:
            known |= _of_text(f"{name} {header}", value)
    # The form's key and Django's token are drawn afresh.
    body = re.sub(r'(csrfmiddlewaretoken|idempotency_key)" value="[^"]*"', "", body)
    return known | _of_text(f"{name} body", body)


def _of_text(name: str, text: str) -> dict[str, float]:
    known: dict[str, float] = {f"{name} length": len(text)}
    for at, word in enumerate(each for each in WORDS.findall(text) if any(sign.isdigit() for sign in each)):
        known[f"{name} {at} length"] = len(word)
        known[f"{name} {at}"] = float(word) if word.isdecimal() else _bytes_of(word)
    return known


def _bytes_of(word: str) -> float:
    """What a token says, if its first bytes are a number."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "", word)
    return float(int.from_bytes(urlsafe_b64decode(plain[: len(plain) // 4 * 4])[:6]))


def _rows(lease: Lease, before: Sequence[Piece]) -> dict[str, float]:
    """Row numbers, what the source makes of them without the secret, and what honest answers have taught."""
    slot, task = lease.slot, lease.slot.task
    foil = task.foil_id or task.gold_id
    taught = {piece.rows["foil"]: piece.caption_first for piece in before if not piece.is_gold}
    known = {f"{name} of before": float(taught.get(foil + step, 0.5)) for name, step in (("foil", -1), ("next", 1))}
    known |= {f"last {n}": float(before[-n].caption_first) if len(before) >= n else 0.5 for n in (1, 2, 3)}
    known |= {"foil": foil, "parity": foil % 2, "index": slot.index, "task": task.pk, "lease": lease.pk}
    if slot.stage == Stage.VALIDATION:
        known["formula"] = caption_first(slot.project_id, foil, slot.index, task.overlap)
    return known


def number_rows_from(start: int) -> None:
    """Rows get the same numbers whatever ran before: the same pieces come in the same order."""
    with connection.cursor() as cursor:
        for model in (Project, User, Video, Caption, Item, Foil, GoldPair, Task, Slot, Lease, Vote):
            table = model._meta.db_table
            if connection.vendor == "postgresql":
                cursor.execute(f"ALTER SEQUENCE {table}_id_seq RESTART WITH {start}")
            else:
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, start])


def guess_caption(people: Sequence[Sequence[Piece]]) -> Tried:
    """Learn from half of the people where the caption is, and say it of the others; then the other way round."""
    right, tries = 0, 0
    known = [[{**piece.known, **piece.rows} for piece in pieces] for pieces in people]
    for scores, truth in _learned(known, [[piece.caption_first for piece in pieces] for pieces in people]):
        right, tries = right + int(((scores > 0.5) == truth).sum()), tries + len(truth)
    return Tried(right, tries, 0.5)


def guess_gold(people: Sequence[Sequence[Piece]]) -> Tried:
    """Name as many pieces of each person as are gold; chance is their share."""
    right = tries = total = 0
    known = [[piece.known for piece in pieces] for pieces in people]
    for scores, truth in _learned(known, [[piece.is_gold for piece in pieces] for pieces in people]):
        named = np.argsort(-scores, kind="stable")[: int(truth.sum())]
        right, tries, total = right + int(truth[named].sum()), tries + len(named), total + len(truth)
    return Tried(right, tries, tries / total)


def _learned(
    people: Sequence[Sequence[Mapping[str, float]]], truths: Sequence[Sequence[bool]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(score of each piece, truth) of each person, by a model that was fitted on the other half of the people."""
    names = sorted({name for pieces in people for piece in pieces for name in piece})
    tables = [_table(pieces, names) for pieces in people]
    for half in (0, 1):
        others = [at for at in range(len(people)) if at % 2 != half]
        model = HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=5, random_state=0)
        model.fit(np.vstack([tables[at] for at in others]), np.concatenate([truths[at] for at in others]))
        for at in range(half, len(people), 2):
            yield model.predict_proba(tables[at])[:, 1], np.array(truths[at])


def _table(pieces: Sequence[Mapping[str, float]], names: Sequence[str]) -> np.ndarray:
    """Each number as it is, and as its place among those of the same person: row numbers are lower or higher."""
    plain = np.array([[piece.get(name, np.nan) for name in names] for piece in pieces], dtype=float)
    places = np.argsort(np.argsort(plain, axis=0, kind="stable"), axis=0, kind="stable") / len(pieces)
    steps = np.diff(plain, axis=0, prepend=np.nan)
    return np.nan_to_num(np.hstack([plain, places, steps]), nan=-1.0)


def token(random: Random, size: int) -> str:
    """As `secrets.token_urlsafe`, the same in every run."""
    return urlsafe_b64encode(random.randbytes(size)).decode().rstrip("=")
