"""The state `disputed` was called `split` before 0.3.0: exports, links, dashboards and audit rows from then still work.

`old_exports/layout_3.tar.gz` was written by `foilworks export foilworks` before the change. Of its four items one is
disputed, and one is valid without its disputed second foil.
"""

import hashlib
import json
import shutil
import tarfile
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.cached_results.models import CachedResult
from evaluation.facts.stored_facts import item_facts
from evaluation.items.history import history_of
from foilworks.core.corpus.export_formats.foilworks import digests_of
from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.rules.states import RENAMED, FoilVerdict, ItemState, current_word
from foilworks.core.jobs.models import Job
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.audit_trail.recording import event_slug
from foilworks.core.projects.models import AuditEvent
from foilworks.site.dashboard import stored_count
from foilworks.site.exports.recomputed import item_facts_of
from foilworks.site.exports.verify import verify
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests import factories
from tests.annotation.world import World, make_world

OLD = Path(__file__).with_name("old_exports") / "layout_3.tar.gz"
HASH = "16e2ca5dd6e6b42b62fc489a31035934db5d5bd5cf0e1237c1ac7be84fb69abf"
MANIFEST = "0db9ae8248cbcd944ad6db94e87848d61c217e93db4003f3ca2d2033e1be88b3"


@pytest.fixture
def export(tmp_path) -> Path:
    with tarfile.open(OLD) as packed:
        packed.extractall(tmp_path / "old", filter="data")
    return tmp_path / "old"


@pytest.fixture
def world(db) -> World:
    return make_world()


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rewritten(export: Path, edit) -> None:
    """Change items and every hash that covers them, as somebody would who wants the change to stay unseen."""
    path, checks = export / "items.jsonl", export / "tables" / "checks.json"
    items = lines(path)
    edit(items)
    text = [json.dumps(item, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for item in items]
    path.write_text("".join(text), encoding="utf-8")
    held = json.loads(checks.read_text(encoding="utf-8"))
    held["lines"]["items"] = digests_of(export, {})["lines"]["items"]
    checks.write_text(pretty(held), encoding="utf-8")
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    for name in ("items.jsonl", "tables/checks.json"):
        content = (export / name).read_bytes()
        manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    # Old versions signed nothing.
    manifest.pop("signature", None)
    manifest["manifest_sha256"] = self_hash(manifest)
    (export / "manifest.json").write_text(pretty(manifest), encoding="utf-8")


def test_every_old_state_name_maps_to_a_current_one():
    assert {ItemState(word) for word in RENAMED} == {ItemState.DISPUTED}
    assert {FoilVerdict(current_word(word)) for word in RENAMED} == {FoilVerdict.DISPUTED}
    assert not set(RENAMED) & {*ItemState, *FoilVerdict}
    with pytest.raises(ValueError, match="'splits' is not a valid ItemState"):
        ItemState("splits")


class TestExports:
    def test_an_old_export_is_verified_by_the_hashes_it_was_published_with(self, export, capsys):
        assert "split" in {item["state"] for item in lines(export / "items.jsonl")}
        call_command("verify", str(export), "--expect", MANIFEST, "--json")
        told = json.loads(capsys.readouterr().out)
        assert (told["ok"], told["hash"], told["manifest"]) == (True, HASH, MANIFEST)

    def test_a_disputed_foil_of_a_valid_item_does_not_belong_to_it(self, export):
        for known in (True, False):
            items = lines(export / "items.jsonl")
            for item in items if not known else ():
                del item["found_valid"]  # as exports from before it was written
            facts = {one.id: one for one in item_facts_of(items, [])}
            assert facts["moves:valid"].kept == ("a man unfolds a shirt.",)
            assert (facts["moves:split"].valid, facts["moves:split"].kept) == (False, None)

    def test_a_changed_old_state_name_is_found(self, export):
        def edit(items):
            for item in items:
                if item["state"] == "split":
                    item.update(state="valid", found_valid=True)

        rewritten(export, edit)
        assert "tables/validation.json" in verify(export)["difference"]

    def test_the_new_state_name_in_an_old_export_is_read_the_same_way(self, export):
        def edit(items):
            for item in items:
                item["state"] = current_word(item["state"])
                for foil in item["verdicts"]:
                    foil["verdict"] = current_word(foil["verdict"])

        rewritten(export, edit)
        assert verify(export)["ok"]
        assert verify(export)["hash"] == HASH

    def test_items_and_votes_of_an_old_export_get_the_new_state_name(self, export, tmp_path, db):
        project = factories.make_project()
        factories.make_subtest(project, name="moves", valid_when="enough", foils_enough=1, foils_per_item=2)
        records = [
            {
                "id": item["id"].partition(":")[2],
                "source_id": item["video"]["source_id"],
                "subtest": item["subtest"],
                "caption": item["caption"],
                "foils": [foil["text"] for foil in item["verdicts"]],
            }
            for item in lines(export / "items.jsonl")
        ]
        path = tmp_path / "records.jsonl"
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        assert import_records(project, None, "jsonl", path).errors == []
        votes = Path(shutil.copy(export / "votes.jsonl", tmp_path / "votes.jsonl"))
        assert import_records(project, None, "votes", votes).errors == []
        then = {item["id"].partition(":")[2]: item["state"] for item in lines(export / "items.jsonl")}
        assert dict(Item.objects.values_list("key", "state")) == {key: current_word(word) for key, word in then.items()}
        told = {f["text"]: f["verdict"] for item in lines(export / "items.jsonl") for f in item["verdicts"]}
        assert dict(Foil.objects.values_list("text", "verdict")) == {t: current_word(word) for t, word in told.items()}


class TestAudit:
    @pytest.fixture
    def item(self, world) -> Item:
        """A disputed item whose audit row has the old word, as it was written then."""
        made = world.item()
        for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
            world.vote(name, choice)
        rows = AuditEvent.objects.filter(target_type="corpus.item", to_state="disputed")
        assert rows.update(to_state="split") == 1
        return made

    def test_old_rows_map_to_the_current_state(self, item):
        assert [row for row in violations() if row["invariant"].startswith(("history.", "items."))] == []

    def test_the_history_shows_the_new_name_and_the_row_does_not_change(self, item, world):
        assert [one.to_state for one in history_of(world.project, item, [])][-1] == "disputed"
        assert AuditEvent.objects.filter(to_state="split").count() == 1


class TestPages:
    @pytest.fixture
    def owner(self, client, world):
        client.force_login(world.owner)
        return client

    def test_an_old_link_to_the_items_chooses_the_state(self, owner, world):
        world.item(key="open")
        world.item(key="between", state=ItemState.DISPUTED)
        page = owner.get(reverse("items:items", args=[world.project.slug]), {"state": "split"})
        assert [item.key for item in page.context["listing"].page.rows] == ["between"]
        assert page.context["listing"].query == "state=disputed&"
        assert page.context["form"]["state"].value() == "disputed"

    def test_old_addresses_redirect_permanently(self, owner, world):
        item, slug = world.item(state=ItemState.DISPUTED), world.project.slug
        listed = owner.get(f"/projects/{slug}/splits/?page=2")
        assert (listed.status_code, listed.url) == (301, f"/projects/{slug}/disputed/?page=2")
        one = owner.get(f"/projects/{slug}/splits/{item.pk}/")
        assert (one.status_code, one.url) == (301, f"/projects/{slug}/disputed/{item.pk}/")
        assert owner.get(one.url).context["item"] == item

    def test_a_form_opened_before_the_update_still_works(self, owner, world):
        item = world.item(state=ItemState.DISPUTED)
        sent = {"decision": "invalid", "reasons": "other", "comment": "both are true"}
        answer = owner.post(f"/projects/{world.project.slug}/splits/{item.pk}/", sent, follow=True)
        assert answer.redirect_chain[0] == (f"/projects/{world.project.slug}/disputed/{item.pk}/", 308)
        item.refresh_from_db()
        assert item.state == ItemState.INVALID

    def test_a_count_of_another_version_is_not_shown_and_is_repeated(self, world, monkeypatch):
        monkeypatch.setattr(stored_count, "SMALL", 0)
        world.item(state=ItemState.DISPUTED)
        row = stored_count.keep(world.project)
        (subtest,) = row.data["subtests"]
        assert subtest["n_disputed"] == 1
        subtest["n_split"] = subtest.pop("n_disputed")
        CachedResult.objects.filter(pk=row.pk).update(data=row.data, fingerprint="5")
        shown = stored_count.counted(world.project)
        assert (shown.data, shown.is_counting) == (None, True)
        assert Job.objects.get().dotted == stored_count.JOB
        stored_count.keep(world.project)
        assert stored_count.counted(world.project).data["subtests"][0]["n_disputed"] == 1


def test_webhooks_send_the_new_state_name(world):
    row = audit.event(world.project, None, "vote", world.item(), from_state="in_validation", to_state="disputed")
    assert event_slug(row) == "item.decided"


def test_an_item_with_an_old_state_after_the_migration_is_named_by_check(world):
    item = world.item(state=ItemState.DISPUTED)
    Foil.objects.filter(item=item).update(verdict=FoilVerdict.DISPUTED)
    Item.objects.filter(pk=item.pk).update(state="split")
    assert [one.valid for one in item_facts(world.project)] == [False]
    problems = {row["problem"] for row in violations() if row["row"] == f"corpus.item {item.pk}"}
    assert "is split; its pairs make it disputed" in problems
