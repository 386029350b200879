"""Stored and reflected scripts: captions, feedback, names of files and people, what an address carries.

Keys of the work pages are fixed in the source; nothing that people write becomes one.
"""

import re
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template import engines
from django.test import Client

from annotation.rules import guidelines
from annotation.views import _work_pages
from foilworks.site.imports.actions.receive_import import receive_import
from tests.annotation.world import make_world
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.attacks.places import Shown, every_page, hostile_world
from tests.factories import make_caption, make_member, make_project, make_video
from tests.test_access_matrix import make_world as make_access_world
from tests.test_architecture import ROOT

pytestmark = pytest.mark.django_db

SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>"
RAW = re.compile(r"<script>alert|<img src=x|<svg/onload")

ESCAPING = Guard(
    "django.template.Engine.autoescape",
    "templates escape text",
    lambda patch: patch.setattr(engines["django"].engine, "autoescape", False),
)
JSON_SCRIPT = replaced("django.utils.html._json_script_escapes", "embedded page data cannot close its element", {})
CSP = replaced(
    "foilworks.site.monitoring.requests.ContentPolicyMiddleware.__call__",
    "Content-Security-Policy: no inline scripts or styles, no plug-ins, no framing of our pages",
    lambda self, request: self.get_response(request),
)
NOSNIFF = Guard(
    "django.middleware.security.SecurityMiddleware",
    "browsers use the declared content type of a file",
    lambda patch: patch.setattr(
        "django.middleware.security.SecurityMiddleware.process_response", lambda self, request, response: response
    ),
)
ALLOWED_TAGS = Guard(
    "annotation.rules.guidelines.nh3.clean",
    "guidelines may use listed tags only, and links three schemes",
    lambda patch: (
        patch.setattr(guidelines.nh3, "clean", lambda html, **kwargs: html),
        patch.setattr(_work_pages, "render_guideline", guidelines.render_guideline.__wrapped__),
    ),
)
FILE_NAMES = Guard(
    "evaluation.score_files.uploaded_files.safe_name",
    "file names lose unsafe characters",
    lambda patch: patch.setattr("foilworks.site.imports.actions.receive_import.safe_name", lambda name: name),
)
SHOWABLE = replaced(
    "foilworks.core.corpus.video_files.streaming.PLAYABLE",
    "files other than videos and images are downloaded, never displayed",
    {"text/html", "image/svg+xml"},
)


def some_pages() -> dict[str, Shown]:
    """Of each kind one: what stands around them is the same for all."""
    kinds = (
        "home",
        "healthz",
        "api_docs",
        "api_unknown",
        "projects:sign_in",
        "corpus:video",
        "corpus:media",
        "annotation:people_figures_file",
    )
    return dict(every_page(make_access_world(), only=kinds))


@guarded_by(ESCAPING)
def test_texts_of_people_are_escaped_on_every_page():
    shown = 0
    for name, page in every_page(hostile_world(SCRIPT).world):
        if page.kind == "text/html":
            assert RAW.search(page.text) is None, name
            shown += "alert(1)" in page.text
    assert shown > 60, "the texts are on too few of the pages: no attack"


@guarded_by(JSON_SCRIPT)
def test_data_of_the_work_pages_cannot_become_a_script(client):
    world = make_world()
    world.group(SCRIPT, caption=make_caption(make_video(world.project), SCRIPT))
    held = world.claim("ann", "edit")
    client.force_login(world.ann)
    html = client.get(f"/projects/{world.project.slug}/work/edit/{held.token}/").content.decode()
    assert "foil-facts" in html
    assert RAW.search(html) is None


@guarded_by(ESCAPING)
def test_a_reviewers_comment_is_shown_to_the_editor_as_text(client):
    world = make_world()
    world.group()
    world.edit("ann")
    world.review("rita", "send_back", reasons=["other"], comment=SCRIPT)
    held = world.claim("ann", "edit")
    client.force_login(world.ann)
    html = client.get(f"/projects/{world.project.slug}/work/edit/{held.token}/").content.decode()
    assert "alert(1)" in html
    assert RAW.search(html) is None


@guarded_by(ESCAPING)
def test_parameters_of_an_address_are_escaped(client):
    world = make_access_world()
    client.force_login(world.people["researcher"])
    carried = dict.fromkeys(("q", "next", "state", "page", "subtest", "run", "answer"), SCRIPT)
    for url in (f"/projects/{world.slug}/items/", "/sign-in/", f"/projects/{world.slug}/<script>alert(1)</script>/"):
        assert RAW.search(client.get(url, carried).content.decode()) is None
    reply = Client().post("/sign-in/", {"username": SCRIPT, "password": "x", "next": SCRIPT}).content.decode()
    assert "alert(1)" in reply
    assert RAW.search(reply) is None


@guarded_by(CSP)
def test_no_page_lets_an_inline_script_run():
    policies = {name: page.headers.get("Content-Security-Policy", "") for name, page in some_pages().items()}
    needed = ("script-src 'self'", "object-src 'none'", "frame-ancestors 'none'")
    assert [name for name, policy in policies.items() if not all(each in policy for each in needed)] == []
    assert [name for name, policy in policies.items() if "unsafe" in policy] == []


@guarded_by(NOSNIFF)
def test_no_answer_is_taken_for_another_kind_of_file():
    pages = some_pages()
    assert [name for name, page in pages.items() if page.headers.get("X-Content-Type-Options") != "nosniff"] == []


@guarded_by(ALLOWED_TAGS)
@pytest.mark.parametrize("text", ["[x](data:image/gif;base64,AAAA)", "[x](/projects/create/)", "[x](//evil.example)"])
def test_guidelines_link_to_the_outside_alone(text):
    html = _work_pages.guideline_html(text)
    assert "href" not in html


@guarded_by(FILE_NAMES)
def test_the_name_of_a_file_holds_no_script():
    project = make_project()
    sent = SimpleUploadedFile("x", b"id,video,caption,foil\n")
    sent._name = "<script>alert(1)<.csv"
    made = receive_import(
        make_member(project, "researcher"), project, format_slug="csv", records=sent, videos=[], params={}
    )
    assert RAW.search(made.file_name) is None


@guarded_by(SHOWABLE)
@pytest.mark.parametrize("name", ["page.html", "picture.svg"])
def test_a_page_that_was_sent_as_a_video_is_not_shown(client, name):
    project = make_project()
    video = make_video(project)
    video.file.save(name, ContentFile(b"<script>alert(1)</script>"))
    client.force_login(make_member(project, "researcher"))
    answer = client.get(f"/projects/{project.slug}/videos/{video.pk}/media/")
    assert answer.status_code == 200
    b"".join(answer.streaming_content)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment"


def test_our_scripts_make_no_html_out_of_text():
    makes = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in (ROOT / "static").rglob("*.js")
        for match in makes.finditer(path.read_text(encoding="utf-8"))
        if "vendor" not in Path(path).parts
    ]
    assert found == []
