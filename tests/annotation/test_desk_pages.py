"""Disputed items, captions in doubt and shares of reviews over HTTP: who sees them, what they show and answer."""

import html

import pytest

from annotation.actions.settings.work_settings import set_review_sampling
from annotation.messages import SETTLED
from annotation.models import Involvement, ReviewPolicy
from annotation.queries.decision_queues import adjudicable, desks_of, disputed_items
from annotation.queries.eligibility import involvements_of
from annotation.rules.adjudication import REASONS, settled_because, why_not_settle
from annotation.rules.eligibility import PriorInvolvement
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.pseudonyms import pseudonym
from tests import factories
from tests.annotation.world import World, browser, judged, make_world, url
from tests.pages import read_page

pytestmark = pytest.mark.django_db

TEARS = "a man tears a shirt."


def text_of(response) -> str:
    return html.unescape(response.content.decode())


class TestDisputedItems:
    def test_votes_are_shown_under_pseudonyms_without_names(self, world: World):
        item = judged(world, "caption", "foil", "both")
        page = text_of(browser(world.rob).get(url(world, "disputed_item", item.pk)))
        assert [pseudonym(world.project, world.people[n].pk) in page for n in ("vera", "vic", "val")] == [True] * 3
        assert [name for name in ("vera", "vic", "val") if world.people[name].username in page] == []

    def test_a_decision_needs_a_reason_and_leads_to_the_next(self, world: World):
        first = judged(world, "caption", "foil", "both")
        second = judged(world, "caption", "foil", "neither")
        client, page = browser(world.rob), url(world, "disputed_item", first.pk)
        refused = client.post(page, {"decision": "valid"})
        assert (refused.status_code, "Enter a reason" in text_of(refused)) == (400, True)
        sent = client.post(page, {"decision": "valid", "reasons": ["wording", "foil_false"], "comment": "look again"})
        assert sent.url.partition("?undo=")[0] == url(world, "disputed_item", second.pk)
        row = AuditEvent.objects.get(action="adjudicate")
        assert (row.actor, row.reason) == (world.rob, "foil_false, wording: look again")
        # Somebody else's decision came first: a word, and the next.
        assert client.get(page).url == url(world, "disputed_item", second.pk)
        sent = client.post(url(world, "disputed_item", second.pk), {"decision": "invalid", "reasons": "other"})
        assert sent.url.partition("?undo=")[0] == url(world, "disputed_items")

    def test_a_person_involved_in_the_video_does_not_get_the_item(self, world: World):
        item = judged(world, "caption", "foil", "both", item=world.made_item())
        rita = browser(world.rita)
        listed = text_of(rita.get(url(world, "disputed_items")))
        assert item.key not in listed
        assert "You worked on the video of 1 disputed item" in listed
        assert rita.get(url(world, "disputed_item", item.pk)).url == url(world, "disputed_items")
        refused = rita.post(url(world, "disputed_item", item.pk), {"decision": "valid", "reasons": "other"})
        assert refused.url == url(world, "disputed_items")
        item.refresh_from_db()
        assert item.state == "disputed"

    def test_other_roles_and_projects_do_not(self, world: World):
        item = judged(world, "caption", "foil", "both")
        for name in ("ann", "vera"):
            assert browser(world.people[name]).get(url(world, "disputed_item", item.pk)).status_code == 403
        elsewhere = make_world()
        assert browser(elsewhere.rob).get(url(elsewhere, "disputed_item", item.pk)).status_code == 404
        assert browser(factories.make_user()).get(url(world, "disputed_items")).status_code == 404

    @pytest.mark.parametrize("scope", ["video", "item"])
    def test_the_query_is_the_pure_rule(self, scope: str):
        world = make_world({"leakage_scope": scope})
        video = factories.make_video(world.project)
        groups = [factories.make_group(world.run, factories.make_caption(video, f"caption {n}")) for n in range(2)]
        items = [factories.make_item(world.subtest, group.caption, state="disputed") for group in groups]
        for group, item in zip(groups, items, strict=True):
            type(group).objects.filter(pk=group.pk).update(item=item)
        items.append(factories.make_item(world.subtest, factories.make_caption(video, "imported"), state="disputed"))
        hands = [*((group, kind) for group in (*groups, None) for kind in Involvement.Kind.values)]
        for group, kind in hands:
            person = factories.make_member(world.project, "reviewer")
            Involvement.objects.create(project=world.project, person=person, video=video, group=group, kind=kind)
            got = set(adjudicable(person, world.project).values_list("pk", flat=True))
            facts = involvements_of(person, video.pk)
            expected = {
                item.pk
                for item, of in zip(items, (groups[0].pk, groups[1].pk, None), strict=True)
                if why_not_settle(facts, PriorInvolvement(video.pk, of), scope) is None
            }
            assert got == expected, (group, kind)
        assert disputed_items(world.project).count() == 3

    def test_a_disputed_item_takes_a_steady_number_of_queries(self, world, django_assert_max_num_queries):
        items = [judged(world, "caption", "foil", "both") for _ in range(3)]
        client = browser(world.rob)
        client.get(url(world, "disputed_item", items[0].pk))
        with django_assert_max_num_queries(13):
            client.get(url(world, "disputed_item", items[0].pk))
        with django_assert_max_num_queries(9):
            client.get(url(world, "disputed_items"))


class TestRepair:
    def doubted(self, world: World, item: Item | None = None) -> Caption:
        return judged(world, "neither", "neither", "foil", item=item).caption

    def test_the_page_shows_the_votes_and_stores_one_decision(self, world: World):
        caption = self.doubted(world)
        client, page = browser(world.owner), url(world, "repair", caption.pk)
        shown = text_of(client.get(page))
        assert pseudonym(world.project, world.vera.pk) in shown
        assert world.vera.username not in shown
        refused = client.post(page, {"decision": "correct", "text": caption.text})
        assert (refused.status_code, "The caption is unchanged." in text_of(refused)) == (400, True)
        refused = client.post(page, {"decision": "confirm", "text": caption.text, "comment": ""})
        assert (refused.status_code, "Enter a reason" in text_of(refused)) == (400, True)
        foil = caption.items.get().foils.get()
        sent = client.post(page, {"decision": "correct", "text": "a woman folds a shirt.", "keep": [str(foil.pk), "x"]})
        assert sent.url == url(world, "repairs")
        revision = Caption.objects.get(revises=caption)
        assert revision.items.get().foils.get().text == foil.text
        assert client.get(page).url == url(world, "repairs")
        assert client.post(page, {"decision": "drop", "comment": "x"}).url == url(world, "repairs")

    def test_a_refused_correction_keeps_what_was_typed_and_ticked(self, world: World):
        caption = self.doubted(world)
        foil = caption.items.get().foils.get()
        form = {"decision": "correct", "text": foil.text, "keep": str(foil.pk), "comment": "so it is"}
        shown = read_page(browser(world.owner).post(url(world, "repair", caption.pk), form))
        shown.check("cannot be kept")
        assert {name: shown.fields[name] for name in ("text", "keep", "comment")} == {
            "text": foil.text,
            "keep": str(foil.pk),
            "comment": "so it is",
        }

    def test_confirm_and_drop_lead_to_the_next(self, world: World):
        first, second = self.doubted(world), self.doubted(world)
        client = browser(world.owner)
        sent = client.post(url(world, "repair", first.pk), {"decision": "confirm", "comment": "at the end"})
        assert sent.url.partition("?undo=")[0] == url(world, "repair", second.pk)
        sent = client.post(url(world, "repair", second.pk), {"decision": "drop", "comment": "wrong clip"})
        assert sent.url == url(world, "repairs")
        assert sorted(Caption.objects.values_list("doubt_settled", flat=True)) == ["confirmed", "dropped"]

    def test_only_researchers_of_the_project(self, world: World):
        caption = self.doubted(world)
        for name in ("ann", "rita", "vera"):
            assert browser(world.people[name]).get(url(world, "repair", caption.pk)).status_code == 403
        elsewhere = make_world()
        assert browser(elsewhere.owner).get(url(elsewhere, "repair", caption.pk)).status_code == 404
        assert browser(world.owner).post(url(world, "repair", caption.pk), {"decision": "burn"}).status_code == 400

    def test_a_caption_takes_a_steady_number_of_queries(self, world, django_assert_max_num_queries):
        captions = [self.doubted(world) for _ in range(3)]
        client = browser(world.owner)
        client.get(url(world, "repair", captions[0].pk))
        with django_assert_max_num_queries(16):
            client.get(url(world, "repair", captions[0].pk))
        with django_assert_max_num_queries(7):
            client.get(url(world, "repairs"))


class TestDesks:
    def test_the_work_page_says_what_waits_for_whom(self, world: World):
        assert desks_of(world.owner, world.project) == []
        judged(world, "neither", "neither", "neither")
        judged(world, "caption", "foil", "both")
        page = text_of(browser(world.owner).get(url(world, "work")))
        assert url(world, "repairs") in page
        assert url(world, "disputed_items") in page
        assert url(world, "repairs") not in text_of(browser(world.rob).get(url(world, "work")))
        assert url(world, "disputed_items") not in text_of(browser(world.vera).get(url(world, "work")))

    def test_every_reason_has_words_and_reasons_are_kept_in_order(self):
        assert set(SETTLED) == set(REASONS)
        assert settled_because(["other", "nonsense", "foil_true"], " twice ") == "foil_true, other: twice"
        assert settled_because([], "") == ""
        assert len(settled_because(["other"], "x" * 900)) == 500


class TestShares:
    def test_shares_are_said_in_per_cent(self, world: World):
        client, page = browser(world.owner), url(world, "people_reviewing")
        form = {"rate": "40", "second_share": "12.5", f"own_{world.ann.pk}": "100", f"own_{world.abe.pk}": ""}
        assert client.post(page, form).url == page
        policy = ReviewPolicy.objects.get()
        assert (policy.rate, policy.second_share) == (0.4, 0.125)
        shown = text_of(client.get(page))
        assert 'value="12.5"' in shown
        assert list(world.project.review_rates.values_list("person", "rate")) == [(world.ann.pk, 1.0)]

    @pytest.mark.parametrize("form", [{"rate": "101", "second_share": "0"}, {"rate": "x", "second_share": "0"}, {}])
    def test_an_invalid_share_is_rejected(self, world: World, form: dict[str, str]):
        assert browser(world.owner).post(url(world, "people_reviewing"), form).status_code == 422
        assert not ReviewPolicy.objects.exists()

    def test_only_researchers_see_it_in_a_steady_number_of_queries(self, world, django_assert_max_num_queries):
        for name in ("ann", "rita", "vera"):
            assert browser(world.people[name]).get(url(world, "people_reviewing")).status_code == 403
        set_review_sampling(world.owner, world.project, rate=0.5, second_share=0.1, own_rates={world.ann.pk: 1.0})
        client = browser(world.owner)
        client.get(url(world, "people_reviewing"))
        for _ in range(4):
            factories.make_member(world.project, "annotator")
        with django_assert_max_num_queries(11):
            client.get(url(world, "people_reviewing"))
