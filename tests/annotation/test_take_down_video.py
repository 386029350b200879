"""A video is taken down: media, work and items go, releases withhold what they froze, exports and `verify` say so."""

import json
from hashlib import sha256

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.urls import reverse

from annotation.actions.decisions.items import take_down_video
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import GoldPair, Slot, SlotState
from evaluation.board.comparison import items_at
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.actions.attach_media import attach_stored_media
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import csv_rows, foilworks, jsonl
from foilworks.core.corpus.export_formats.parts.folder import manifest_hash, pretty, self_hash
from foilworks.core.corpus.models import Item, MediaState, Takedown, Video
from foilworks.core.corpus.release_records import content_of
from foilworks.core.corpus.rules.canonical import canonical_line
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.corpus.video_files.ingest import StoredMedia, reasons_taken_down, set_media
from foilworks.core.media.probe import VideoFacts
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify
from foilworks.site.invariants.registry import violations
from tests.annotation.world import make_world
from tests.factories import make_caption, make_item, make_video

pytestmark = pytest.mark.django_db
REASON = "Its maker asked us to."


@pytest.fixture
def world():
    """Two released items; the first one's clip shares its file with a clip that waits for an edit."""
    made = make_world()
    file = default_storage.save("videos/aa/one.mp4", ContentFile(b"a film"))
    shared = {"file": file, "sha256": "a" * 64}
    made.clip, made.twin = make_video(made.project, **shared), make_video(made.project, **shared)
    made.taken = make_item(made.subtest, make_caption(made.clip, "a secret is told."), state=ItemState.VALID)
    made.kept = make_item(made.subtest, make_caption(make_video(made.project), "a dog runs."), state=ItemState.VALID)
    made.group(caption=make_caption(made.twin, "a man sits."))
    make_tasks(made.project)
    made.release = freeze_release(made.owner, made.project, name="v1")
    return made


def take_down(world, reason=REASON, person=None):
    return take_down_video(person or world.owner, world.project.slug, world.clip.pk, reason)


def test_the_media_is_gone_from_every_clip_that_showed_it(world, django_capture_on_commit_callbacks):
    name = world.clip.file.name
    with django_capture_on_commit_callbacks(execute=True):
        scope = take_down(world)
    assert {clip.pk for clip in scope.clips} == {world.clip.pk, world.twin.pk}
    for clip in Video.objects.filter(pk__in=[world.clip.pk, world.twin.pk]):
        assert (clip.media_state, clip.file.name, clip.url) == (MediaState.TAKEN_DOWN, "", "")
    assert not default_storage.exists(name)
    assert Takedown.objects.filter(reason=REASON).count() == 2
    events = AuditEvent.objects.filter(action="take_down")
    assert {(event.actor, event.reason, event.to_state) for event in events} == {(world.owner, REASON, "taken_down")}


def test_a_file_that_another_project_shows_stays_there(world, django_capture_on_commit_callbacks):
    other = make_video(make_world().project, file=world.clip.file.name)
    with django_capture_on_commit_callbacks(execute=True):
        take_down(world)
    assert default_storage.exists(other.file.name)


def test_work_on_it_ends_and_nobody_gets_more(world):
    # Rows made for the test break rules of their own: votes that nobody gave, files that are not there.
    before = {found["problem"] for found in violations()}
    assert world.claim("ann", "edit") is not None
    take_down(world)
    assert set(Slot.objects.filter(video=world.twin).values_list("state", flat=True)) == {SlotState.CANCELLED}
    assert world.claim("abe", "edit") is None
    assert Item.objects.get(pk=world.taken.pk).state == ItemState.RETRACTED
    assert Item.objects.get(pk=world.kept.pk).state == ItemState.VALID
    assert {found["problem"] for found in violations()} <= before


def test_gold_on_it_is_no_longer_asked(world):
    pair = GoldPair.objects.create(
        project=world.project,
        use="mixed",
        subtest=world.subtest,
        video=world.clip,
        caption_text="a",
        foil_text="b",
        answer="caption",
    )
    take_down(world)
    pair.refresh_from_db()
    assert pair.withdrawn_at is not None


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_without_a_reason_nothing_is_taken_down(world, reason):
    with pytest.raises(AnnotationError, match="Enter a reason"):
        take_down(world, reason)
    assert not Takedown.objects.exists()


def test_only_researchers_take_down_and_only_once(world):
    with pytest.raises(AccessDenied):
        take_down(world, person=world.ann)
    take_down(world)
    with pytest.raises(AnnotationError, match="already taken down"):
        take_down(world)


def test_it_does_not_come_back_under_its_own_or_another_key(world):
    take_down(world)
    facts = VideoFacts(sha256="a" * 64, **{name: 1 for name in VideoFacts.__dataclass_fields__ if name != "sha256"})
    kept = StoredMedia(name="videos/aa/one.mp4", facts=facts)
    clip = Video.objects.get(pk=world.clip.pk)
    set_media(clip, kept, reasons_taken_down(world.project, [kept]))
    assert clip.media_state == MediaState.TAKEN_DOWN
    with pytest.raises(CorpusError, match="taken down"):
        attach_stored_media(world.owner, clip, kept)
    fresh = Video(project=world.project, key="another name")
    set_media(fresh, kept, reasons_taken_down(world.project, [kept]))
    assert (fresh.media_state, fresh.file.name) == (MediaState.BROKEN, "")
    assert REASON in fresh.media_error


class TestReleases:
    def test_the_page_withholds_the_text_and_says_why(self, client, world):
        take_down(world)
        client.force_login(world.owner)
        address = reverse("releases:release_data", args=[world.project.slug, world.release.pk])
        page = client.get(address).content.decode()
        assert "1 item is withheld." in page
        assert REASON in page
        assert "unfolds" in page  # the other item's foil
        assert page.count("unfolds") == 1
        assert world.release.content_hash in page

    def test_the_api_gives_the_tombstone_for_the_record(self, client, world):
        take_down(world)
        token = make_token(world.owner, name="reader", scope="read").secret
        address = f"/api/v1/projects/{world.project.slug}/releases/{world.release.pk}/items"
        answer = client.get(address, headers={"Authorization": f"Bearer {token}"})
        assert "a secret is told" not in answer.content.decode()
        assert sorted(row["record"].get("reason", "") for row in answer.json()["items"]) == ["", REASON]

    def test_two_runs_beside_each_other_do_not_show_its_item(self, world):
        a, b = (start_run(world.owner, world.release, RunRequest(f"fake:{n}", label=f"fake {n}")) for n in (1, 2))
        assert len(items_at(world.release, [0, 1], a, b)) == 2
        take_down(world)
        (left,) = items_at(world.release, [0, 1], a, b)
        assert left.item == world.kept.pk

    def test_an_export_names_what_is_missing_and_verify_explains_it(self, world, tmp_path):
        before = tmp_path / "before"
        foilworks.write(collect_release(world.release), before, params={})
        told = verify(before)
        assert (told["ok"], told["hash"]) == (True, world.release.content_hash)
        assert told["manifest"] == manifest_hash(before)
        take_down(world)
        after = tmp_path / "after"
        foilworks.write(collect_release(world.release), after, params={})
        said = verify(after)
        assert said["ok"], said
        assert said["hash"] == world.release.content_hash
        assert said["withheld"] == [f"{world.subtest.name}:{world.taken.key}"]
        assert "1 items are withheld" in said["note"]
        everything = "".join(path.read_text() for path in after.rglob("*") if path.is_file())
        assert "a secret is told" not in everything
        assert REASON in (after / "datasheet.md").read_text()

    def test_an_item_that_was_requeued_before_is_in_no_export_either(self, world, tmp_path):
        caption = make_caption(world.clip, "a hidden thing is told.")
        make_item(world.subtest, caption, state=ItemState.REQUEUED)
        assert "hidden" in str(list(collect_release(world.release).items))
        take_down(world)
        foilworks.write(collect_release(world.release), tmp_path / "out", params={})
        assert verify(tmp_path / "out")["ok"]
        assert "hidden" not in "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())

    def test_the_tombstone_names_the_line_of_an_older_export(self, world, tmp_path):
        foilworks.write(collect_release(world.release), tmp_path / "before", params={})
        take_down(world)
        (tombstone,) = collect_release(world.release).withheld
        lines = [json.loads(line) for line in (tmp_path / "before" / "items.jsonl").read_text().splitlines()]
        hashes = {sha256_of(canonical_line(content_of(line)).encode()): line["id"] for line in lines}
        assert hashes[tombstone["record_sha256"]] == tombstone["id"]

    @pytest.mark.parametrize("exporter", [csv_rows, jsonl])
    def test_other_formats_leave_it_out_and_say_so(self, world, tmp_path, exporter):
        take_down(world)
        exporter.write(collect_release(world.release), tmp_path / "out", params={})
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
        assert [one["reason"] for one in manifest["withheld"]] == [REASON]
        assert manifest["counts"]["items"] == 1
        assert verify(tmp_path / "out")["note"]

    def test_hiding_an_item_as_withheld_is_detected(self, world, tmp_path):
        """The hash of what is left is computed from the items: one that was taken out by hand shows."""
        take_down(world)
        out = tmp_path / "out"
        foilworks.write(collect_release(world.release), out, params={})
        (out / "items.jsonl").write_text("")
        manifest = json.loads((out / "manifest.json").read_text())
        manifest["files"]["items.jsonl"]["sha256"] = sha256_of(b"")
        manifest["manifest_sha256"] = self_hash(manifest)
        (out / "manifest.json").write_text(pretty(manifest))
        assert "content hash" in verify(out)["difference"]

    def test_a_later_release_is_without_it(self, world):
        take_down(world)
        successor = freeze_release(world.owner, world.project, name="v2")
        assert (successor.n_items, collect_release(successor).withheld) == (1, ())

    def test_what_an_older_import_made_valid_on_it_afterwards_is_not_released(self, world):
        take_down(world)
        make_item(world.subtest, make_caption(world.clip, "told again."), state=ItemState.VALID)
        assert freeze_release(world.owner, world.project, name="v2").n_items == 1


def sha256_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def test_the_page_says_what_goes_with_it_and_asks_for_a_reason(client, world):
    client.force_login(world.owner)
    address = reverse("annotation:takedown", args=[world.project.slug, world.clip.pk])
    page = client.get(address).content.decode()
    assert "Clips of the same file or source" in page
    assert client.post(address, {"reason": " "}).status_code == 422
    assert client.post(address, {"reason": REASON}).status_code == 302
    assert REASON in client.get(reverse("corpus:video", args=[world.project.slug, world.clip.pk])).content.decode()
