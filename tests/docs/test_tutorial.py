"""The tutorial, walked: its commands in their order, its steps on the pages, what they print held to what it shows."""

import contextlib
import html
import io
import re
import runpy
import secrets
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Lease
from foilworks.core.corpus.models import Caption, Item, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Membership, User
from foilworks.site import cli
from foilworks.site.imports.models import Import
from scripts.doc_pages import DOCS, Block, split

TUTORIAL = DOCS / "tutorial.md"
TEXT = TUTORIAL.read_text(encoding="utf-8")
SPOILT = "a red square moves to the side."
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow(seconds=15)]


def shown() -> list[tuple[str, str]]:
    """(command, what the page says that it prints), in the page's order."""
    cut = [lines for block in split(TEXT)[1] if block.language == "console" for lines in _cut(block)]
    return [(lines[0], "\n".join(lines[1:])) for lines in cut]


def _cut(block: Block) -> list[list[str]]:
    return [piece.split("\n") for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE) if piece]


def matches(printed: str, expected: str) -> bool:
    """`…` stands for anything in a line, a line of it for any lines; spaces at the ends of lines count for nothing."""
    plain = "".join(f"{line.rstrip()}\n" for line in printed.strip().split("\n"))
    return re.fullmatch("".join(map(_pattern, expected.strip().split("\n"))), plain) is not None


def _pattern(line: str) -> str:
    return "(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n"


class Walk:
    """One installation, its commands, and a browser a person; `seen` holds every page that was looked at."""

    def __init__(self) -> None:
        self.steps = iter(shown())
        self.browsers: dict[str, Client] = {}
        self.seen: list[str] = []

    def command(self, start: str) -> str:
        """The next command of the page, which must begin so; its output, held to what the page shows."""
        line, expected = next(self.steps)
        words = shlex.split(line)
        assert line.removeprefix(".venv/bin/").startswith(start), f"the page has {line!r} here, not {start!r}"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            _run(words)
        if expected:
            assert matches(out.getvalue(), expected), f"{line} prints\n{out.getvalue()}"
        return out.getvalue()

    def sign_in(self, name: str, password: str) -> Client:
        client = self.browsers[name] = Client()
        answer = client.post(reverse("projects:sign_in"), {"username": name, "password": password})
        assert answer.status_code == 302, answer.content.decode()
        return client

    def look(self, name: str, view: str, *args: object) -> str:
        answer = self.browsers[name].get(reverse(view, args=args), follow=True)
        assert answer.status_code == 200
        self.seen.append(html.unescape(answer.content.decode()))
        return self.seen[-1]

    def send(self, name: str, view: str, args: list[object], data: dict[str, object]) -> str:
        answer = self.browsers[name].post(reverse(view, args=args), data, follow=True)
        assert answer.status_code == 200, html.unescape(answer.content.decode())
        self.seen.append(html.unescape(answer.content.decode()))
        return answer.redirect_chain[-1][0] if answer.redirect_chain else ""


def _run(words: list[str]) -> None:
    """As the shell would: the console script, or Python with a file."""
    if words[0] == ".venv/bin/python":
        sys.argv = words[1:]
        runpy.run_path(words[1], run_name="__main__")
        return
    if words[1] == "createsuperuser":
        words = [*words, "--noinput"]
    with contextlib.suppress(SystemExit):
        assert cli.run(words[1:]) == 0


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """In an empty folder beside which only the docs lie."""
    (tmp_path / "docs").symlink_to(DOCS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "moving-squares")
    return Walk()


def test_the_tutorial_is_true(walk: Walk) -> None:
    walk.command("foilworks createsuperuser")
    walk.command("python docs/examples/own_clips.py")
    set_up(walk)
    walk.command("foilworks import jsonl")
    assert not Video.objects.exists(), "--dry-run stores nothing"
    walk.command("foilworks import jsonl")
    import_by_the_page(walk)
    walk.command("foilworks foil")
    walk.command("foilworks generate")
    passwords = add_people(walk)
    edit(walk, passwords["ann"])
    work_through(walk, "olga", "review", lambda _piece: {"decision": "accept"})
    for name in ("vera", "vic"):
        walk.sign_in(name, passwords[name])
        work_through(walk, name, "validation", judge)
    assert Item.objects.filter(state=ItemState.VALID).count() == 7
    assert Item.objects.get(state=ItemState.INVALID).foils.get().text == SPOILT
    walk.look("olga", "items:items", "my-clips")
    for kind in ("validation", "agreement", "blind"):
        walk.command(f"foilworks report {kind}")
    walk.look("olga", "reports:reports", "my-clips")
    walk.command("foilworks release")
    walk.command("foilworks evaluate")
    walk.command("foilworks export foilworks")
    walk.command("foilworks verify")
    assert next(walk.steps, None) is None, "a command of the page was not run"
    assert not unseen(walk), "the page names what no page shows"


def set_up(walk: Walk) -> None:
    walk.sign_in("olga", "moving-squares")
    walk.look("olga", "home")
    walk.look("olga", "projects:create")
    walk.send("olga", "projects:create", [], {"name": "My clips", "edit_stage": "on", "leakage_scope": "video"})
    walk.look("olga", "corpus:subtests", "my-clips")
    fields = {
        "name": "direction",
        "kind": "main",
        "foils_per_item": 1,
        "votes_wanted": 2,
        "votes_needed": 2,
        "valid_when": "all",
        "foils_enough": 1,
    }
    walk.send("olga", "corpus:subtests", ["my-clips"], fields)
    assert Subtest.objects.get().name == "direction"


def import_by_the_page(walk: Walk) -> None:
    walk.look("olga", "imports:new_import", "my-clips")
    clips = [SimpleUploadedFile(path.name, path.read_bytes()) for path in sorted(Path("my-clips").glob("blue-*.mp4"))]
    table = SimpleUploadedFile("more.csv", Path("my-clips/more.csv").read_bytes())
    walk.send("olga", "imports:new_import", ["my-clips"], {"format": "csv", "records": table, "videos": clips})
    upload = Import.objects.get()
    run_now(upload.job)
    walk.look("olga", "imports:import", "my-clips", upload.pk)
    walk.send("olga", "imports:confirm_import", ["my-clips", upload.pk], {})
    upload.refresh_from_db()
    run_now(upload.job)
    assert Video.objects.filter(media_state="ready").count() == Caption.objects.count() == 8


def add_people(walk: Walk) -> dict[str, str]:
    """The passwords that the page shows once, by name."""
    walk.look("olga", "annotation:people", "my-clips")
    passwords = {}
    for name, role in (("ann", "annotator"), ("vera", "validator"), ("vic", "validator")):
        walk.send("olga", "annotation:people", ["my-clips"], {"username": name, "roles": [role], "new_account": "on"})
        said = re.search(r'class="[^"]*mono[^"]*"[^>]*>([^<]+)<', walk.seen[-1])
        assert said is not None
        passwords[name] = said[1].strip()
    olga = Membership.objects.filter(person=User.objects.get(username="olga")).first()
    assert olga is not None
    walk.send("olga", "annotation:member_roles", ["my-clips", olga.person_id], {"roles": ["researcher", "reviewer"]})
    return passwords


def edit(walk: Walk, password: str) -> None:
    walk.sign_in("ann", password)
    spoilt = []

    def write(page: str) -> dict[str, object]:
        given = re.search(r"<textarea[^>]*>\s*([^<]+)</textarea>", page)
        parent = re.search(r'name="parent" value="(\d+)"', page)
        assert given is not None
        text = given[1].strip()
        if "red" in text and text.endswith(("left.", "right.")) and not spoilt:
            spoilt.append(text)
            text = SPOILT
        return {"text": text, "parent": parent[1] if parent else ""}

    work_through(walk, "ann", "edit", write)


def judge(page: str) -> dict[str, object]:
    """As a person would who watches the clip: nothing on the page says where the square goes."""
    sentences = re.findall(r'<p class="sentence"[^>]*>(.*?)</p>', page, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", "", text).split()) for text in sentences]
    token = re.search(r'data-token="([^"]+)"', page)
    assert token is not None
    truth = Lease.objects.get(token=token[1]).slot.video.captions.get().text
    true = [text in (truth, SPOILT) for text in texts]
    return {"answer": {(True, False): "first", (False, True): "second", (True, True): "both"}[tuple(true)]}


def work_through(walk: Walk, name: str, stage: str, answer: Callable[[str], dict[str, object]]) -> None:
    """All eight pieces of a queue, each page answered by what it shows."""
    walk.look(name, "annotation:work", "my-clips")
    at = walk.send(name, "annotation:queue", ["my-clips", stage], {})
    for _piece in range(8):
        token = re.search(rf"/work/{stage}/([\w-]+)/", at)
        assert token is not None, at
        data = {"idempotency_key": secrets.token_urlsafe(8), **answer(walk.seen[-1])}
        at = walk.send(name, f"annotation:{stage}", ["my-clips", token[1]], data)
    assert not re.search(rf"/work/{stage}/[\w-]+/", at), "eight pieces, and no more"


def unseen(walk: Walk) -> set[str]:
    """What the page sets in bold and no page that was looked at has."""
    words = {
        word
        for bold in re.findall(r"\*\*([A-Z][^*]+?)\*\*", re.sub(r"\n", " ", split(TEXT)[0]))
        for word in bold.split(" → ")
    }
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", "\n".join(walk.seen)))
    return {word for word in words if word not in text and not re.match(r"Ctrl|You ", word)}
