"""A private part of a release: drawn by source video, in no export, and compared with the public part."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pyarrow import parquet

from evaluation.board.gaps import gaps_of
from evaluation.board.leaderboard import board
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.metrics import need_evidence
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.releases.changelog import changelog_of
from evaluation.releases.holdback import drawn
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Score
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.rung_scores import lenders_of
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Item, Release, Video
from foilworks.core.corpus.release_records import canary_of, hash_of
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.text.registry import load
from foilworks.site.documents.models import SourceLicence
from foilworks.site.exports.collect import export_content
from foilworks.site.exports.verify import verify
from foilworks.site.management.commands.release import share
from foilworks.site.publishing.actions.set_public_page import set_public_page
from foilworks.site.publishing.hub_folder import videos_to_copy, write_publication
from tests import factories
from tests.evaluation.ladders import CHAIN, make_laddered
from tests.evaluation.ranked import score

pytestmark = pytest.mark.django_db


def record(name: str, source: str, pair: str = "") -> dict:
    video = {"source_dataset": "d", "source_id": source, "sha256": "", "key": name}
    return {"id": name, "subtest": "s", "video": video, **({"pair": pair} if pair else {})}


class TestDraw:
    RECORDS = [record(f"i{k}", f"v{k // 3}", f"p{k // 6}" if k < 12 else "") for k in range(300)]

    def test_items_of_one_source_or_one_pair_stay_together_near_the_share(self):
        chosen = drawn(self.RECORDS, 0.2, "a")
        assert abs(len(chosen) - 60) <= 3
        for k in range(0, 300, 3):
            assert len({f"i{j}" in chosen for j in range(k, k + 3)}) == 1
        assert len({f"i{k}" in chosen for k in range(6)}) == 1

    def test_the_seed_decides_and_the_order_of_items_does_not(self):
        assert drawn(self.RECORDS, 0.2, "a") == drawn(self.RECORDS[::-1], 0.2, "a") != drawn(self.RECORDS, 0.2, "b")

    def test_known_sources_keep_their_part(self):
        public, private = {"source d/v9"}, {"source d/v10"}
        chosen = drawn(self.RECORDS, 0.0, "a", public, private)
        assert chosen == {"i30", "i31", "i32"}
        assert not drawn(self.RECORDS, 0.5, "a", public, private) & {"i27", "i28", "i29"}


@pytest.fixture
def project():
    """Twenty items on ten sources, each with texts of its own, and work on every clip that no release contains."""
    project = factories.make_project(slug="held")
    subtest = factories.make_subtest(project, name="verbs")
    run = factories.make_run(subtest)
    for k in range(20):
        video = factories.make_video(project, key=f"clip{k}", source_dataset="d", source_id=f"s{k // 2}")
        caption = factories.make_caption(video, f"a ball quix{k}a moves {k}")
        factories.make_item(subtest, caption, (f"a ball quix{k}b rests {k}",), key=str(k), state=ItemState.VALID)
        factories.make_item(subtest, caption, (f"a ball quix{k}c stops {k}",), key=f"x{k}", state=ItemState.INVALID)
        group = factories.make_group(run, caption)
        factories.make_candidate(group, f"a ball quix{k}d floats {k}", state=CandidateState.FILTERED_OUT)
        lone = factories.make_caption(video, f"a ball quix{k}e alone {k}")
        assert lone.pk
    return project


@pytest.fixture
def release(project) -> Release:
    return freeze_release(None, project, selection=ItemSelection(holdback=0.2), name="v1")


def private_words(release: Release) -> set[str]:
    return {f"quix{one['caption'].split()[-1]}" for one in records_of(release, private=True)}


def test_the_release_has_one_hash_for_all_items_and_one_for_the_public_ones(release):
    public, private = records_of(release), records_of(release, private=True)
    assert (release.n_items, release.n_private, len(public), len(private)) == (20, 4, 16, 4)
    assert release.content_hash == hash_of([*public, *private])
    assert release.public_hash == hash_of(public)
    places = release.members.order_by("position").values_list("is_private", flat=True)
    assert list(places) == [False] * 16 + [True] * 4
    assert not {one["video"]["source_id"] for one in public} & {one["video"]["source_id"] for one in private}


def add_pairs(project) -> None:
    """Add an item of two clips to each clip; the two clips are of one source."""
    subtest = factories.make_subtest(project, name="pairs")
    captions = [project.videos.get(key=f"clip{k}").captions.order_by("pk")[0] for k in range(20)]
    for k, caption in enumerate(captions):
        other = captions[k + 1 - 2 * (k % 2)]
        factories.make_item(subtest, caption, (other.text,), key=f"p{k}", pair=f"pair {k // 2}", state=ItemState.VALID)


def write_all(project, release: Release, folder: Path) -> set[str]:
    """Write the release and the project in every format that can; return "format release" of those written."""
    written = set()
    for slug, entry in EXPORTERS.items():
        exporter = load(entry)
        for asked in (release, None):
            try:
                content = export_content(exporter, project, asked)
                exporter.write(content, folder / f"{slug}-{asked}", params={})
                written.add(f"{slug} {asked}")
            except (CorpusError, EvaluationError):
                continue
    return written


def text_of(path: Path) -> str:
    """Return what a file contains; Parquet is compressed."""
    if path.suffix == ".parquet":
        return json.dumps(parquet.read_table(path).to_pylist())
    return path.read_bytes().decode("utf-8", "replace")


def test_no_export_page_or_api_shows_a_private_text(project, tmp_path):
    add_pairs(project)
    release = freeze_release(None, project, selection=ItemSelection(holdback=0.2), name="v1")
    assert (release.n_items, release.n_private) == (40, 8)
    owner = factories.make_member(project, "researcher")
    page = set_public_page(owner, release, is_open=True, offers_export=True, takes_scores=True)
    run = start_run(None, release, RunRequest("fake:text"))
    assert run_now(run.job).state == JobState.DONE
    assert run_now(page.job).state == JobState.DONE
    page.refresh_from_db()
    # It answers all items with the full clip: what items need is estimated only from models above luck.
    all_ids = {record["id"] for private in (False, True) for record in records_of(release, private=private)}
    laddered = make_laddered(owner, release, {**{rung: {"verbs:0"} for rung in CHAIN}, "full": all_ids})
    words = private_words(release)
    written = write_all(project, release, tmp_path)
    write_publication(release, tmp_path / "for review", anonymous=True)
    shown = [text_of(path) for path in tmp_path.rglob("*") if path.is_file()]
    stranger = Client()
    pages = [reverse(f"publishing:{name}", args=[page.key]) for name in ("public_release", "public_scores", "report")]
    shown += [stranger.get(address).content.decode() for address in pages]
    assert "What this benchmark measures" in shown[-3]
    with page.archive.open() as file:
        (tmp_path / "archive.zip").write_bytes(file.read())
    call_command("verify", str(unzipped(tmp_path / "archive.zip")))
    shown += [text_of(path) for path in (tmp_path / "unzipped").rglob("*") if path.is_file()]
    secret = make_token(owner, name="reads").secret
    path = f"/api/v1/projects/held/releases/{release.pk}/items?limit=100"
    bearer = {"Authorization": f"Bearer {secret}"}
    answer = stranger.get(path, headers=bearer)
    assert len(answer.json()["items"]) == 32
    shown.append(answer.content.decode())
    answer = stranger.get(f"/api/v1/projects/held/scoring/{laddered.pk}/ladder", headers=bearer)
    assert answer.json()["ladder"]["overall"]["n"] == 32
    shown.append(answer.content.decode())
    table = json.loads((tmp_path / f"foilworks-{release}" / "tables" / "ladder.json").read_text())
    assert table["overall"]["n"] == 32
    shown.append(json.dumps(changelog_of(release) or {}))
    assert written >= {f"{slug} {release}" for slug in ("hf", "hub", "lmms-eval", "inspect", "vlmeval", "winoground")}
    everything = "\n".join(shown)
    assert "quix" in everything
    leaked = {word for word in words if f"{word}a" in everything or f"{word}b" in everything}
    also = {word for word in words for end in "cde" if f"{word}{end}" in everything}
    assert (leaked, also) == (set(), set())


def test_videos_of_private_items_are_not_copied(project, release):
    SourceLicence.objects.create(project=project, source_dataset="d", may_show=True)
    Video.objects.filter(project=project).update(file="stored.mp4")
    assert set(videos_to_copy(release)) == {one["video"]["key"] for one in records_of(release)}


def test_a_copy_for_review_has_a_canary_of_its_own(release, tmp_path):
    write_publication(release, tmp_path / "copy", anonymous=True)
    text = "".join(text_of(path) for path in (tmp_path / "copy").rglob("*") if path.is_file())
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    assert manifest["canary"] == canary_of(manifest["content_hash"])
    assert manifest["canary"] in (tmp_path / "copy" / "README.md").read_text()
    assert manifest["holdback"] == {"items": 4}
    for mark in (canary_of(release.content_hash), release.content_hash, release.public_hash):
        assert mark not in text


def test_each_part_borrows_clips_of_its_own_part(project, release):
    run = make_laddered(factories.make_member(project, "researcher"), release, {"other_clip": (), "full": ()})
    others = lenders_of(run)
    assert set(others) == {one["id"] for one in (*records_of(release), *records_of(release, private=True))}
    for is_private in (False, True):
        records = records_of(release, private=is_private)
        assert {others[one["id"]]["id"] for one in records} <= {one["id"] for one in records}
        assert lenders_of(run, records).items() <= others.items()


def test_the_ladder_selects_private_items_too(project, release, monkeypatch):
    monkeypatch.setattr(need_evidence, "MIN_LOOKS", 3.0)
    public, private = ({one["id"] for one in records_of(release, private=is_private)} for is_private in (False, True))
    owner, random = factories.make_member(project, "researcher"), np.random.default_rng(0)
    left_out, ids = {min(public), min(private)}, sorted(public | private)
    runs = []
    for label in range(12):
        guessed = {rung: {name for name in ids if random.random() < 0.5} | left_out for rung in CHAIN}
        runs.append(make_laddered(owner, release, {**guessed, "full": ids}, label=f"model {label}"))
    selection = ItemSelection(needs="order", ladder_runs=[run.pk for run in runs])
    later = freeze_release(None, project, selection=selection, name="v2")
    assert {one["id"] for one in records_of(later)} == public - left_out
    assert {one["id"] for one in records_of(later, private=True)} == private - left_out
    assert later.gate.data["needs"]["subtests"]["verbs"] == {"n": 20, "n_kept": 18, "n_unknown": 0}
    assert later.gate.data["needs"]["scored_release"]["content_hash"] == release.public_hash


def unzipped(path: Path) -> Path:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        archive.extractall(path.parent / "unzipped")
    return next((path.parent / "unzipped").iterdir())


def test_the_export_verifies_and_carries_the_canary(project, release, tmp_path):
    exporter = load(EXPORTERS["foilworks"])
    out = tmp_path / "out"
    exporter.write(export_content(exporter, project, release), out, params={})
    assert verify(out)["ok"], verify(out)
    manifest = json.loads((out / "manifest.json").read_text())
    canary = canary_of(release.content_hash)
    assert manifest["content_hash"] == release.public_hash
    assert manifest["holdback"] == {"items": 4, "whole_hash": release.content_hash}
    assert manifest["canary"] == canary
    assert canary in (out / "README.md").read_text()
    assert canary in (out / "datasheet.md").read_text()
    lines = (out / "items.jsonl").read_text().splitlines()
    assert all(canary in line for line in lines)


def test_a_model_that_runs_here_shows_its_gap_and_a_file_cannot(release, tmp_path):
    run = start_run(None, release, RunRequest("fake:text"))
    assert run_now(run.job).state == JobState.DONE
    for one in records_of(release):
        Score.objects.filter(text_sha256=text_key(one["caption"])).update(value=99.0)
    for one in records_of(release, private=True):
        Score.objects.filter(text_sha256=text_key(one["caption"])).update(value=-99.0)
    cache.clear()
    CachedResult.objects.all().delete()
    score(release, tmp_path, "file", lambda k: True)
    rows = gaps_of(Release.objects.get(pk=release.pk))
    assert [(row.is_file, row.found is None) for row in rows] == [(False, False), (True, True)]
    found = rows[0].found
    assert (found["public"], found["private"], found["gap"]) == (1.0, 0.0, 1.0)
    assert (found["n_public"], found["n_private"], found["differs"]) == (16, 4, True)
    assert {row.group["n"] for row in board(release).rows} == {16}


class TestLaterReleases:
    def test_what_was_private_stays_private_and_what_was_public_stays_public(self, project, release):
        before = {one["id"] for one in records_of(release, private=True)}
        Item.objects.filter(key="x0").update(state=ItemState.VALID)
        later = freeze_release(None, project, name="v2")
        after = {one["id"] for one in records_of(later, private=True)}
        assert before <= after
        assert len(after - before) in (0, 1)
        third = freeze_release(None, project, selection=ItemSelection(holdback=0.5), name="v3")
        assert third == later

    def test_what_was_public_cannot_become_private(self, project):
        freeze_release(None, project, name="v1")
        with pytest.raises(EvaluationError, match="has the same items, all public"):
            freeze_release(None, project, selection=ItemSelection(holdback=0.2), name="v2")
        Item.objects.filter(key="x0").update(state=ItemState.VALID)
        with pytest.raises(EvaluationError, match="No item can be held back"):
            freeze_release(None, project, selection=ItemSelection(holdback=0.2), name="v2")

    def test_new_sources_can_be_held_back(self, project):
        freeze_release(None, project, name="v1")
        subtest = project.subtests.get()
        for k in range(20, 30):
            video = factories.make_video(project, key=f"clip{k}", source_dataset="d", source_id=f"n{k}")
            factories.make_item(
                subtest,
                factories.make_caption(video, f"a ball moves {k}"),
                (f"a ball rests {k}",),
                key=str(k),
                state=ItemState.VALID,
            )
        later = freeze_release(None, project, selection=ItemSelection(holdback=0.2), name="v2")
        assert later.n_private == 6
        assert all(one["video"]["source_id"].startswith("n") for one in records_of(later, private=True))


@pytest.mark.parametrize(("text", "found"), [("20%", 0.2), ("0.2", 0.2), ("0", 0.0), ("50%", 0.5)])
def test_a_share_is_read_as_percent_or_as_a_number(text, found):
    assert share(text) == pytest.approx(found)


@pytest.mark.parametrize("text", ["60%", "-1", "many", "nan"])
def test_other_shares_are_refused(text):
    with pytest.raises(Exception, match=r"share|outside"):
        share(text)
