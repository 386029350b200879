"""Import by the page: files kept aside and looked at in a job, stored when somebody says so."""

import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path, PurePath

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.urls import reverse
from django.utils import timezone

from evaluation.score_files.uploaded_files import safe_name
from foilworks.core.corpus.import_formats.parsing.column_roles import guess
from foilworks.core.corpus.import_formats.parsing.examples import EXAMPLES
from foilworks.core.corpus.import_formats.parsing.table_sample import sample_of
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Item, MediaState, Video
from foilworks.core.corpus.records import BadRecord, RecordWarning, TakenColumns
from foilworks.core.corpus.video_files.stored_files import opaque_name
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import AuditEvent
from foilworks.core.text.registry import load
from foilworks.site.imports import store, upload_jobs
from foilworks.site.imports.actions.discard_stale_imports import discard_stale_imports, remove_partial_uploads
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import folder_of
from tests.factories import make_video
from tests.media.painted import painted_clip
from tests.media.test_probe import encode
from tests.pages import read_page

pytestmark = pytest.mark.django_db

CSV = "id,video,caption,foil\na,a.mp4,a man sits.,a man stands.\nb,b.mp4,,y\nc,c.mp4,x,X\n"


@pytest.fixture(autouse=True)
def own_uploads(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def film(tmp_path) -> bytes:
    write_mp4(tmp_path / "film.mp4", painted_clip(8), fps=8)
    return (tmp_path / "film.mp4").read_bytes()


def send(client, project, *videos, records=None, **fields):
    data = {"format": "csv" if records else "videos", "videos": list(videos), **fields}
    if records:
        data["records"] = records
    return client.post(reverse("imports:new_import", args=[project.slug]), data)


def file(name: str, content: bytes | str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def looked_at() -> Import:
    """The newest import after its job."""
    run_now(Import.objects.latest("pk").job)
    return Import.objects.latest("pk")


def page(client, upload):
    return client.get(reverse("imports:import", args=[upload.project.slug, upload.pk])).content.decode()


def test_first_records_are_shown_before_the_whole_file_is_checked(owner, project, monkeypatch):
    def stop(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(upload_jobs, "import_records", stop)
    send(owner, project, records=file("sitting.csv", CSV))
    upload = Import.objects.get()
    with pytest.raises(KeyboardInterrupt):
        upload_jobs.preview(upload, upload.job)
    upload.refresh_from_db()
    assert upload.state == "reading"
    assert "a man stands." in page(owner, upload)


def test_counts_and_first_problems_are_shown_while_the_file_is_checked(owner, project, film, monkeypatch):
    store_files, pages = store._store_files, []

    def seen(*arguments, **options):
        upload = Import.objects.get()
        pages.append((upload.state, page(owner, upload), json.dumps(upload.first_records)))
        return store_files(*arguments, **options)

    monkeypatch.setattr(store, "_store_files", seen)
    send(owner, project, file("a.mp4", film), records=file("sitting.csv", CSV))
    assert looked_at().state == "ready"
    [(state, html, stored)] = pages
    assert state == "reading"
    read_page(html).check(
        "3 records read so far: 1 with errors, 1 with warnings.",
        "1 clip has a file in the upload.",
        "caption: is missing; give the text",
        "a man stands.",
    )
    assert "All others are fine" not in html
    assert str(settings.UPLOAD_ROOT) not in html + stored


def test_records_and_videos_are_previewed_then_stored(owner, project, film):
    response = send(owner, project, file("a.mp4", film), records=file("sitting.csv", CSV))
    upload = Import.objects.get()
    assert response.headers["Location"] == reverse("imports:import", args=[project.slug, upload.pk])
    assert upload.state == "reading"
    assert Video.objects.count() == 0
    upload = looked_at()
    assert (upload.state, Video.objects.count(), Item.objects.count()) == ("ready", 0, 0)
    html = page(owner, upload)
    read_page(html).check(
        "1 of 3 records has an error",
        "is missing; give the text",
        "its letters in another case",
        "a man stands.",
    )
    assert str(settings.UPLOAD_ROOT) not in html + json.dumps(upload.preview)
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    upload = looked_at()
    assert upload.state == "done"
    assert upload.result["errors"] == ["sitting.csv:3: caption: is missing; give the text"]
    assert list(Video.objects.order_by("key").values_list("key", "media_state")) == [
        ("a.mp4", "ready"),
        ("c.mp4", "missing"),
    ]
    assert Item.objects.filter(subtest__name="sitting").count() == 2
    assert not folder_of(upload).exists()
    read_page(page(owner, upload)).check("Imported.", "Go to items")


def test_the_preview_shows_frames_of_uploaded_and_of_stored_clips(owner, project, film):
    rows = "id,video,caption,foil\na,a.mp4,a man sits.,a man stands.\nb,b.mp4,a dog digs.,a dog naps.\n"
    stored = make_video(project, key="b.mp4", film_strip="strips/b.jpg", media_state=MediaState.READY, sha256="b" * 64)
    send(owner, project, file("a.mp4", film), records=file("x.csv", rows))
    upload = looked_at()
    shown = read_page(owner.get(reverse("imports:import", args=[project.slug, upload.pk])))
    strips = [reverse("imports:strip", args=[project.slug, upload.pk, number]) for number in (0, 1)]
    stored_strip = reverse("corpus:film_strip", args=[project.slug, stored.pk])
    assert [image.attributes["src"] for image in shown.all("img")] == [strips[0], stored_strip]
    picture = owner.get(strips[0])
    assert (picture["Content-Type"], b"".join(picture.streaming_content)[:2]) == ("image/jpeg", b"\xff\xd8")
    assert owner.get(strips[1]).status_code == 404


def test_a_published_set_counts_as_valid_if_the_form_says_so(owner, project):
    for name, fields in (("plain.csv", {}), ("set.csv", {"as_published": "on"})):
        send(owner, project, records=file(name, CSV.replace("a,a.mp4", f"{name},a.mp4")), **fields)
        upload = looked_at()
        assert ("as published" in page(owner, upload)) is bool(fields)
        owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
        looked_at()
    states = dict(Item.objects.filter(key__endswith=".csv").values_list("key", "state"))
    assert states == {"plain.csv": "in_validation", "set.csv": "valid"}


def test_an_unreadable_file_is_reported_on_the_page(owner, project):
    send(owner, project, records=file("x.csv", b"id,video,caption\na,\xff\n"))
    upload = looked_at()
    assert upload.state == "failed"
    assert upload.preview == {"problem": "x.csv:2: encoding: byte 0xff is not UTF-8; save the file as UTF-8"}
    assert "x.csv:2: encoding" in page(owner, upload)
    refused = owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    assert refused.status_code == 400


def test_videos_without_records_fill_clips_or_become_clips(owner, project, film, tmp_path):
    lacking = {"media_state": MediaState.MISSING, "duration": None, "fps": None}
    make_video(project, key="QUVA/a@0-1", source_id="a", start_time=0.0, end_time=0.5, **lacking)
    make_video(project, key="QUVA/a@1-", source_id="a", start_time=0.5, **lacking)
    make_video(project, key="there.mp4")
    hevc = encode(tmp_path / "own.mp4", "libx265").read_bytes()
    send(owner, project, file("a.mp4", film), file("empty.mp4", b""))
    # An empty file is refused with the form.
    assert Import.objects.count() == 0
    bad = file("notes.mp4", "This is no video.")
    send(owner, project, file("a.mp4", film), file("own.mp4", hevc), file("there.mp4", film), bad)
    upload = looked_at()
    assert {row["file"]: (row["what"], row["clips"]) for row in upload.preview["videos"]} == {
        "a.mp4": ("attached", ["QUVA/a@0-1", "QUVA/a@1-"]),
        "notes.mp4": ("broken", []),
        "own.mp4": ("added", ["own.mp4"]),
        "there.mp4": ("differs", ["there.mp4"]),
    }
    assert Video.objects.filter(media_state="missing").count() == 2
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    looked_at()
    assert Video.objects.filter(source_id="a", media_state="ready").count() == 2
    own = Video.objects.get(key="own.mp4")
    assert (own.media_state, PurePath(own.file.name).stem) == ("ready", opaque_name(own.sha256))
    assert Video.objects.filter(source_id="a").values("sha256").distinct().count() == 1
    assert not Video.objects.filter(key="notes.mp4").exists()
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert {"evaluation.receive_import", "evaluation.confirm_import", "corpus.add_video"} <= set(actions)


def test_a_discarded_import_is_deleted_and_cannot_be_imported(owner, project, django_capture_on_commit_callbacks):
    send(owner, project, records=file("x.csv", CSV))
    upload = looked_at()
    with django_capture_on_commit_callbacks(execute=True):
        owner.post(reverse("imports:discard_import", args=[project.slug, upload.pk]))
    upload.refresh_from_db()
    assert (upload.state, folder_of(upload).exists()) == ("discarded", False)
    assert owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk])).status_code == 400
    assert Item.objects.count() == 0


def test_unconfirmed_imports_are_discarded_after_a_while(owner, project, django_capture_on_commit_callbacks):
    send(owner, project, records=file("x.csv", CSV))
    upload = looked_at()
    assert discard_stale_imports(now=upload.created_at + timedelta(days=13)) == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert discard_stale_imports(now=upload.created_at + timedelta(days=15)) == 1
    upload.refresh_from_db()
    assert (upload.state, folder_of(upload).exists()) == ("discarded", False)
    last = AuditEvent.objects.latest("pk")
    assert (last.action, last.actor, last.reason) == ("evaluation.discard_import", None, "not decided on for 14 days")


def test_a_file_that_was_cut_off_is_removed_after_a_day(settings, tmp_path):
    """Django names a file that arrives; a web process that is killed leaves it."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    sent = TemporaryUploadedFile("film.mp4", "video/mp4", 1, None)
    left = Path(sent.temporary_file_path())
    assert left.parent == tmp_path
    assert remove_partial_uploads(now=timezone.now() + timedelta(hours=23)) == 0
    assert left.exists()
    assert remove_partial_uploads(now=timezone.now() + timedelta(hours=25)) == 1
    assert not left.exists()
    sent.close()


def test_a_second_press_imports_once(owner, project):
    send(owner, project, records=file("x.csv", CSV))
    upload = looked_at()
    url = reverse("imports:confirm_import", args=[project.slug, upload.pk])
    assert [owner.post(url).status_code for _ in range(2)] == [302, 400]


def test_a_rerun_job_stores_nothing_twice(owner, project):
    from foilworks.site.imports.jobs import run_import

    send(owner, project, records=file("x.csv", CSV))
    upload = looked_at()
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    upload = looked_at()
    run_import(upload.pk, upload.job)
    assert Import.objects.get().result == upload.result
    assert Item.objects.count() == 2


class KilledError(BaseException):
    """As a kill: nothing of the job runs after it."""


def test_a_job_that_takes_over_from_a_killed_one_reports_what_was_imported(owner, project, monkeypatch):
    """The worker is killed when it writes the result."""
    send(owner, project, records=file("x.csv", CSV))
    owner.post(reverse("imports:confirm_import", args=[project.slug, looked_at().pk]))

    def kill(*_):
        raise KilledError

    with monkeypatch.context() as patched, pytest.raises(KilledError):
        patched.setattr("foilworks.site.imports.upload_jobs.without_folder", kill)
        looked_at()
    assert Import.objects.get().result is None
    upload = looked_at()
    assert (upload.result["created"]["items"], Item.objects.count()) == (2, 2)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\a.mp4", "a.mp4"),
        ("/etc/passwd", "passwd"),
        (".htaccess", "htaccess"),
        ("..", "unnamed"),
        ("", "unnamed"),
        ("a\x00b\n<script>.mp4", "a_b__script_.mp4"),
        ("Мой клип (1).mp4", "Мой клип (1).mp4"),
        ("e\u0301.mp4", "é.mp4"),
        ("x" * 300 + ".mp4", "x" * 146 + ".mp4"),
    ],
)
def test_a_name_is_never_a_path(name, kept):
    assert safe_name(name) == kept


def test_names_with_paths_remain_in_the_folder(owner, project, film):
    send(owner, project, file("../../a.mp4", film), file("a.mp4", film), records=file("../x.csv", CSV))
    upload = Import.objects.get()
    kept = {path.relative_to(folder_of(upload)).as_posix() for path in folder_of(upload).rglob("*") if path.is_file()}
    assert kept == {"records/x.csv", "videos/a.mp4", "videos/a-2.mp4"}
    assert {path.name for path in Path(settings.UPLOAD_ROOT).iterdir()} == {f"import-{upload.pk}"}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"format": "csv"}, "videos"),
        ({"format": "videos"}, "videos"),
        ({"format": "nonsense"}, "format"),
        ({"format": "csv", "records": SimpleUploadedFile("x.csv", b"")}, "records"),
        ({"format": "videos", "records": SimpleUploadedFile("x.csv", b"x")}, "format"),
    ],
)
def test_missing_values_are_reported_next_to_their_field(owner, project, fields, wrong):
    response = owner.post(reverse("imports:new_import", args=[project.slug]), fields)
    assert response.status_code == 422
    assert wrong in response.context["form"].errors
    assert Import.objects.count() == 0


def test_more_than_the_limit_is_refused_before_it_is_read(owner, project, settings, film):
    settings.UPLOAD_MAX_BYTES = 1000
    response = send(owner, project, file("a.mp4", film))
    assert response.status_code == 400
    assert "The request is damaged or too large" in response.content.decode()
    assert Import.objects.count() == 0


def test_pages_that_take_no_files_take_no_large_bodies(client, project):
    large = file("x.bin", b"x" * (1024 * 1024 + 1))
    assert client.post(reverse("projects:sign_in"), {"username": "x", "file": large}).status_code == 413
    # Who is not signed in is sent away unread.
    assert client.post(reverse("imports:new_import", args=[project.slug]), {"file": large}).status_code == 302


def test_script_in_captions_and_names_is_shown_not_run(owner, project):
    text = "id,video,caption,foil\na,a.mp4,<script>alert(1)</script>,<b>x</b>\nb,b.mp4,\n"
    send(owner, project, records=file("<img src=x>.csv", text))
    html = page(owner, looked_at())
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<img src=x>" not in html


def test_progress_asks_for_the_page_once_the_job_is_over(owner, project):
    send(owner, project, records=file("x.csv", CSV))
    upload = Import.objects.get()
    url = reverse("imports:import_progress", args=[project.slug, upload.pk])
    waiting = owner.get(url)
    assert "HX-Refresh" not in waiting.headers
    assert "every 1s" in read_page(waiting).actions
    # What comes of it is stored before the job is over: the part still stands there to ask once more.
    Import.objects.update(preview={})
    assert "every 1s" in read_page(owner.get(url)).actions
    looked_at()
    assert owner.get(url).headers["HX-Refresh"] == "true"


@pytest.mark.parametrize("update", [False, True])
def test_differing_records_are_shown_and_changed_only_on_request(owner, project, update):
    first, second = b'{"id": "a", "source_id": "v", "caption": "x", "foil": "y"}', b""
    second = first.replace(b'"y"', b'"<z>"') + b"\n" + first.replace(b'"a"', b'"b"')
    send(owner, project, records=file("s.jsonl", first), format="jsonl")
    confirm = {"update": "on"} if update else {}
    for _ in range(2):
        upload = looked_at()
        shown = page(owner, upload)
        owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]), confirm)
        looked_at()
        if Import.objects.count() == 1:
            send(owner, project, records=file("s.jsonl", second), format="jsonl")
    assert '<td class="cell-text hash">[&quot;y&quot;]</td>' in shown
    assert "[&quot;&lt;z&gt;&quot;]" in shown
    assert "Update 1 record that differs from the file" in shown
    upload = Import.objects.latest("pk")
    assert (upload.result["new"], upload.result["changed"], upload.result["updated"]) == (1, 1, int(update))
    assert Item.objects.get(key="a").foils.get().text == ("<z>" if update else "y")


def test_the_format_of_a_table_is_detected(owner, project):
    send(owner, project, records=file("sitting.csv", CSV), format="auto")
    assert Import.objects.get().format == "csv"
    assert looked_at().preview["new"] == 2


@pytest.mark.parametrize(
    ("files", "format_slug"),
    [
        ({"records": ("x.JSONL", '{"id": "1", "caption": "a", "video": "b"}')}, "jsonl"),
        ({"records": ("x.tsv", '"id"\tcaption\turl')}, "csv"),
        ({"records": ("x.tsv", "id\tsentence\tclip")}, "table"),
        ({"records": ("x.jsonl", '{"id": "1", "caption": "a"}')}, "table"),
        ({"videos": ("a.mp4", "x")}, ""),
    ],
)
def test_the_name_of_a_file_determines_its_format(owner, project, files, format_slug):
    sent = {name: file(*what) for name, what in files.items()}
    owner.post(reverse("imports:new_import", args=[project.slug]), {"format": "auto", **sent})
    assert Import.objects.get().format == format_slug


def test_an_unclear_name_requires_a_format(owner, project):
    response = send(owner, project, records=file("annotations.txt", "a dot moves"), format="auto")
    assert "Choose the format" in response.context["form"].errors["format"][0]
    assert Import.objects.count() == 0


def test_a_table_uploaded_as_json_lines_gives_one_error(owner, project):
    send(owner, project, records=file("captions.csv", CSV), format="jsonl")
    expected = "captions.csv:1: file: looks like a table, not like JSON lines; choose CSV table (csv)"
    read_page(page(owner, looked_at())).check(expected, absent=("Problems by record",))


def test_an_import_with_only_bad_records_cannot_be_confirmed(owner, project):
    send(owner, project, records=file("x.csv", "id,video,caption\na,a.mp4,\n"))
    upload = looked_at()
    confirm = reverse("imports:confirm_import", args=[project.slug, upload.pk])
    preview = read_page(page(owner, upload))
    preview.check("1 of 1 records has an error")
    discard = reverse("imports:discard_import", args=[project.slug, upload.pk])
    assert [action for action in (confirm, discard) if action in preview.actions] == [discard]
    send(owner, project, records=file("x.csv", "id,video,caption\na,a.mp4,\nb,b.mp4,x\n"))
    upload = looked_at()
    assert reverse("imports:confirm_import", args=[project.slug, upload.pk]) in page(owner, upload)


def test_clips_without_a_file_are_named_and_reached(owner, project):
    rows = "".join(f"{n},clip{n}.mp4,a man sits.\n" for n in range(7))
    send(owner, project, records=file("x.csv", f"id,video,caption\n{rows}"))
    upload = looked_at()
    read_page(page(owner, upload)).check("clip0.mp4, clip1.mp4, clip2.mp4, clip3.mp4, clip4.mp4 and 2 more.")
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    assert reverse("corpus:videos", args=[project.slug]) + "?media=missing" in page(owner, looked_at())


def test_a_file_with_a_similar_name_is_named_beside_the_clip_that_lacks_one(owner, project, film):
    row = file("x.csv", "id,video,caption\na,blue-lefft.mp4,a ball rolls.\n")
    send(owner, project, file("blue-left.mp4", film), records=row)
    read_page(page(owner, looked_at())).check("Files with a similar name: blue-left.mp4 for blue-lefft.mp4.")


def test_a_video_is_attached_to_a_clip_with_a_different_spelling(owner, project, film):
    clip = make_video(project, key="CAFE\u0301.MP4", media_state=MediaState.MISSING)
    send(owner, project, file("café.mp4", film))
    owner.post(reverse("imports:confirm_import", args=[project.slug, looked_at().pk]))
    answer = {"file": "café.mp4", "clips": [clip.key], "error": "", "conversion": "", "what": "attached"}
    assert looked_at().result["videos"] == [answer]


def test_the_preview_names_a_subtest_only_if_it_creates_one(owner, project):
    send(owner, project, records=file("captions.csv", "id,video,caption,foil\na,a.mp4,x,\nb,b.mp4,x,y\n"))
    upload = looked_at()
    assert [row["subtest"] for row in upload.preview["sample"]] == ["", "captions"]
    assert "Subtest" in [cell.text for cell in read_page(page(owner, upload)).all("th")]
    send(owner, project, records=file("captions.csv", "id,video,caption\na,a.mp4,x\n"))
    assert "Subtest" not in [cell.text for cell in read_page(page(owner, looked_at())).all("th")]


# How many records the examples hold; the others have one.
SEVERAL = {
    "csv": 2,
    "jsonl": 2,
    "vatex": 2,
    "msrvtt": 2,
    "votes": 2,
    "mturk": 2,
    "sugarcrepe-pp": 2,
    "bla": 2,
    "eqben": 2,
    "quva": 3,
    "winoground": 2,
    "vinoground": 2,
    "video-list": 2,
}


@pytest.mark.parametrize("slug", EXAMPLES)
def test_the_examples_of_the_page_can_be_imported(tmp_path, slug):
    path = tmp_path / f"x.{slug if slug in ('csv', 'jsonl') else 'txt'}"
    path.write_text(EXAMPLES[slug])
    params = {param.name: param.default if param.name == "recipe" else "" for param in IMPORTERS[slug].params}
    if slug == "table":
        params |= {"mapping": guess(sample_of(path)["rows"])}
    read = load(IMPORTERS[slug]).read(path, params=params)
    found = [one for one in read if not isinstance(one, TakenColumns)]
    assert len(found) == SEVERAL.get(slug, 1)
    assert not [one for one in found if isinstance(one, BadRecord | RecordWarning)]


def test_every_format_that_is_a_file_has_an_example():
    assert IMPORTERS.keys() - EXAMPLES.keys() == {"hf"}


def test_the_formats_are_grouped_by_kind_and_each_is_in_one_group(owner, project):
    html = owner.get(reverse("imports:new_import", args=[project.slug])).content.decode()
    groups = dict(re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', html, re.DOTALL))
    assert list(groups) == [
        "General formats",
        "Captions of datasets",
        "Videos without captions",
        "Published benchmarks",
        "Votes and descriptions",
    ]
    offered = re.findall(r'<option value="([^"]+)"', "".join(groups.values()))
    assert sorted(offered) == sorted(IMPORTERS)
    assert 'value="nextqa"' in groups["Published benchmarks"]


def test_the_page_shows_what_the_chosen_format_needs(owner, project):
    address = reverse("imports:new_import", args=[project.slug])
    for chosen, words in (("", "id,video,caption,foil"), ("jsonl", "cup.mp4&quot;"), ("votes", "1,ann,caption")):
        html = owner.get(address, {"format": chosen} if chosen else {}).content.decode()
        note = html[html.index('id="format-note"') : html.index('name="subtest"')]
        assert words in note
    # Without scripts each format's own words are there to be opened.
    summaries = " ".join(element.text for element in read_page(html).all("summary"))
    assert all(entry.label in summaries for entry in IMPORTERS.values())


def test_a_list_of_videos_without_captions_is_previewed_and_imported(owner, project):
    text = "label,youtube_id,time_start,time_end,split\nabseiling,a,1,11,val\nair drumming,b,2,12,val\n"
    send(owner, project, records=file("kinetics-400_val.csv", text), format="kinetics")
    upload = looked_at()
    assert (upload.preview["new"], upload.preview["errors"]) == (2, [])
    html = page(owner, upload)
    assert "Kinetics-400/a_000001_000011" in html
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]))
    assert looked_at().result["without_captions"] == 2
    found = project.videos.order_by("pk").values_list("class_label", "split", "source_dataset")
    assert list(found) == [("abseiling", "val", "Kinetics-400"), ("air drumming", "val", "Kinetics-400")]


def test_records_chosen_among_the_videos_are_the_records(owner, project, film):
    table = file("clips.csv", "id,video,caption\n1,a.mp4,A dot moves.\n")
    response = owner.post(
        reverse("imports:new_import", args=[project.slug]), {"format": "auto", "videos": [table, file("a.mp4", film)]}
    )
    assert response.status_code == 302
    upload = looked_at()
    assert (upload.format, upload.preview["new"], upload.preview["media"]["ready"]) == ("csv", 1, 1)


def test_two_record_files_among_the_videos_are_refused(owner, project):
    tables = [file(name, "id,video,caption\n1,a.mp4,A dot moves.\n") for name in ("a.csv", "b.csv")]
    response = owner.post(reverse("imports:new_import", args=[project.slug]), {"format": "csv", "videos": tables})
    assert response.status_code == 422
    assert "a.csv, b.csv" in response.context["form"].errors["videos"][0]


def test_texts_beside_a_table_are_not_its_records(owner, project):
    table = file("clips.csv", "id,video,caption\n1,a.mp4,A dot moves.\n")
    response = owner.post(
        reverse("imports:new_import", args=[project.slug]),
        {"format": "auto", "videos": [file("README.txt", "About these clips."), table]},
    )
    assert response.status_code == 302
    upload = Import.objects.get()
    assert (upload.file_name, upload.n_videos) == ("clips.csv", 0)


def zipped(**files: bytes) -> SimpleUploadedFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file("set.zip", content.getvalue())


def test_an_archive_is_its_files(owner, project, film):
    table = b"id,video,caption\n1,a.mp4,A dot moves.\n"
    archive = zipped(**{"set/clips.csv": table, "set/media/a.mp4": film, "__MACOSX/._a.mp4": b"", "set/.DS_Store": b""})
    response = owner.post(reverse("imports:new_import", args=[project.slug]), {"format": "auto", "videos": [archive]})
    assert response.status_code == 302
    upload = looked_at()
    assert (upload.file_name, upload.n_videos, upload.preview["media"]["ready"]) == ("clips.csv", 1, 1)


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (file("set.zip", b"PK no archive"), "is not a ZIP archive"),
        (zipped(**{"a.mp4": b"0" * 3_000_000}), "or 1 MB"),
        (zipped(), "has no files"),
        (zipped(**{"a/x.mp4": b"0", "b/x.mp4": b"1"}), "of the same name: a/x.mp4, b/x.mp4"),
    ],
)
def test_an_archive_that_cannot_be_used_is_refused(owner, project, settings, archive, words):
    settings.UPLOAD_MAX_BYTES = 1024 * 1024
    response = owner.post(reverse("imports:new_import", args=[project.slug]), {"format": "auto", "videos": [archive]})
    assert words in response.context["form"].errors["videos"][0]


def test_a_damaged_archive_leaves_nothing(owner, project):
    content = zipped(**{"clips.csv": b"id,video,caption\n1,a.mp4,A dot moves.\n" * 99}).read()
    broken = file("set.zip", content.replace(content[60:70], b"0123456789"))
    response = owner.post(reverse("imports:new_import", args=[project.slug]), {"format": "csv", "videos": [broken]})
    assert response.status_code == 400
    assert Import.objects.count() == 0
    assert not list(Path(settings.UPLOAD_ROOT).glob("import-*"))


def test_clips_with_the_same_conversion_are_one_row(owner, project, film):
    send(owner, project, file("a.mp4", film), records=file("x.csv", "id,video,caption\n1,a.mp4,A dot moves.\n"))
    upload = looked_at()
    said = [("a.mp4", "Rewritten."), ("b.mp4", "Cut."), ("c.mp4", "Rewritten.")]
    upload.preview["converted"] = [{"video": name, "conversion": what} for name, what in said]
    upload.save()
    shown = read_page(page(owner, upload))
    assert [cell.text for cell in shown.all("th")].count("Rewritten.") == 1
    shown.check("a.mp4, c.mp4")
    assert [element.text for element in shown.all("summary") if "clip" in element.text] == ["1 clip", "2 clips"]


@pytest.mark.parametrize(
    ("name", "text", "format_slug"),
    [
        ("x.csv", "cup.mp4,lift cup,train\n", "video-list"),
        ("x_train.txt", "lift/cup.mp4 0\n", "video-list"),
        ("x.csv", "label,youtube_id,time_start,time_end,split\nlift,abc,1,11,train\n", "kinetics"),
        ("x.csv", "path,label,split\ncup.mp4,lift cup,train\n", "table"),
    ],
)
def test_lists_of_videos_are_detected(owner, project, name, text, format_slug):
    send(owner, project, records=file(name, text), format="auto")
    assert Import.objects.get().format == format_slug


def test_a_table_of_videos_needs_no_caption(owner, project):
    send(owner, project, records=file("x.csv", "path,label,split\ncup.mp4,lift cup,train\n"), format="auto")
    upload = looked_at()
    columns = reverse("imports:import_columns", args=[project.slug, upload.pk])
    assert owner.post(columns, {"video": "path", "use": "1"}).status_code == 422
    sent = {"video": "path", "class_label": "label", "split": "split", "use": "1"}
    assert owner.post(columns, sent).status_code == 302
    expected = ("1 class;", "1 train", "1 video has no file yet:", "lift cup")
    read_page(page(owner, looked_at())).check(*expected, absent=("Caption and foils",))


def test_classes_that_differ_are_updated_only_on_request(owner, project):
    make_video(project, key="cup.mp4", class_label="drop cup", split="train")
    send(owner, project, records=file("x.csv", "cup.mp4,lift cup,train\n"), format="auto")
    upload = looked_at()
    assert "Update 1 video whose class or split differs" in page(owner, upload)
    owner.post(reverse("imports:confirm_import", args=[project.slug, upload.pk]), {"update": "on"})
    looked_at()
    assert Video.objects.get().class_label == "lift cup"
