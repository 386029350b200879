"""What a project says of itself: the forms, who may change it, where it stands then; the changelog of a release."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.actions.decisions.items import take_down_video
from annotation.models import PayRate, Vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.changelog import changed_fields, changelog_of, compared
from evaluation.releases.models import ReleaseChangelog
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS
from foilworks.core.corpus.export_formats.parts.documents import own_answers as answers_of
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.projects.actions.consent import give_consent, publish_consent_text
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Consent
from foilworks.site.documents.actions.documents import ChangedMeanwhileError, answer_datasheet
from foilworks.site.documents.models import DatasheetAnswer, SourceLicence, answer_version
from foilworks.site.exports.collect import collect_release
from foilworks.site.imports.store import import_records
from foilworks.site.publishing.sheet import own_answers
from generation.models import Candidate
from tests.addresses import named
from tests.annotation.world import World, make_world
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_project,
    make_run,
    make_score,
    make_video,
)
from tests.pages import read_page

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"
FACTS = {
    "title": "Dots",
    "authors": "Doe, Ann\nThe Lab",
    "abstract": "",
    "year": "2026",
    "doi": "",
    "url": "",
    "licence": "CC BY 4.0",
    "licence_url": "",
    "contact": "ann@example.org",
}


@pytest.fixture
def world() -> World:
    return make_world({"slug": "dots", "name": "Dots"})


@pytest.fixture
def owner(client, world):
    client.force_login(world.owner)
    return client


def valid(world, text, **fields):
    video = make_video(world.project, key=f"v {text}", source_dataset=fields.pop("source", "films"))
    return make_item(world.subtest, make_caption(video, text), (f"no {text}",), state="valid", key=text, **fields)


def url(name, world, *args):
    return reverse(named(name), args=[world.project.slug, *args])


def post_publication(owner, world, **fields):
    terms = {"licence": "research only", "url": "https://example.org/films", "notes": HOSTILE}
    terms = {f"source-0-{name}": text for name, text in terms.items()}
    return owner.post(url("publication", world), {**FACTS, **terms, **fields})


def test_citation_and_licences_are_stored_and_exported(owner, world, tmp_path):
    valid(world, "a dot moves.")
    release = freeze_release(None, world.project)
    assert post_publication(owner, world, **{"source-0-may_show": "on"}).status_code == 302
    terms = SourceLicence.objects.get()
    assert (terms.source_dataset, terms.licence, terms.may_show) == ("films", "research only", True)
    assert AuditEvent.objects.get(action="evaluation.describe_publication").details["may_show"] == ["films"]
    foilworks.write(collect_release(release), tmp_path / "out", params={})
    assert 'family-names: "Doe"' in (tmp_path / "out/CITATION.cff").read_text()
    assert "research only" in (tmp_path / "out/LICENCES.md").read_text()
    sheet = (tmp_path / "out/datasheet.md").read_text()
    # The address of a licence that is known by its name needs nobody to type it.
    assert "Annotations: CC BY 4.0" in sheet
    assert "https://creativecommons.org/licenses/by/4.0/" in sheet
    assert "<script>" not in sheet


def test_the_form_proposes_the_description_as_purpose_and_common_licences(owner, world):
    world.project.description = "Dots that move."
    world.project.save()
    page = read_page(owner.get(url("publication", world)))
    assert (page.fields["abstract"], "CC BY 4.0" in page.options) == ("Dots that move.", True)
    post_publication(owner, world)
    assert read_page(owner.get(url("publication", world))).fields["abstract"] == ""


def test_the_trail_says_which_fields_of_the_citation_changed(owner, world):
    valid(world, "a dot moves.")
    post_publication(owner, world)
    post_publication(owner, world, title="Moving dots")
    last = AuditEvent.objects.filter(action="evaluation.describe_publication").last()
    assert last.details["changed"] == ["title"]


def test_invalid_values_are_reported_next_to_the_field(owner, world):
    valid(world, "a dot moves.")
    answer = post_publication(owner, world, year="MMXX", **{"source-0-url": "javascript:alert(1)"})
    assert answer.status_code == 422
    assert "Enter a year with four digits." in answer.content.decode()
    assert not SourceLicence.objects.exists()


def test_answers_are_stored_escaped_and_deleted(owner, world, tmp_path):
    valid(world, "a dot moves.")
    release = freeze_release(None, world.project)
    empty = dict.fromkeys(QUESTIONS, "")
    assert owner.post(url("datasheet", world), {**empty, "collection.ethics": HOSTILE}).status_code == 302
    page = owner.get(url("datasheet", world), {"section": "collection"}).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE not in page
    foilworks.write(collect_release(release), tmp_path / "out", params={})
    assert "> &lt;script>alert(1)&lt;/script>" in (tmp_path / "out/datasheet.md").read_text()
    post_publication(owner, world, abstract=f"For {HOSTILE} [a](javascript:b)")
    page = owner.get(url("datasheet", world), {"section": "motivation"}).content.decode()
    assert "For &lt;script&gt;" in page
    assert 'javascript:b"' not in page
    owner.post(url("datasheet", world), empty)
    assert not DatasheetAnswer.objects.exists()
    assert AuditEvent.objects.filter(action="evaluation.answer_datasheet").count() == 2


def test_the_form_shows_computed_answers_and_counts_open_questions(owner, world):
    page = owner.get(url("datasheet", world), {"section": "composition"})
    before = page.context["form"].n_open
    assert "No release yet" in page.content.decode()
    valid(world, "a dot moves.")
    freeze_release(None, world.project)
    page = owner.get(url("datasheet", world), {"section": "composition"})
    assert ["all", "1"] in [row[:2] for row in read_page(page).rows]
    assert page.context["form"].n_open < before


def test_only_researchers_answer(world):
    with pytest.raises(AccessDenied):
        answer_datasheet(world.ann, world.project, {"collection.ethics": "yes"})


def test_the_pages_need_as_many_queries_for_one_item_as_for_many(owner, world, django_assert_max_num_queries):
    for number in range(6):
        valid(world, f"dot {number}.", source=f"films {number}")
    freeze_release(None, world.project)
    owner.get(url("datasheet", world))
    # Half of them ask whether what the answers were made from is as it was.
    with django_assert_max_num_queries(26):
        owner.get(url("datasheet", world))
    with django_assert_max_num_queries(10):
        owner.get(url("publication", world))


class TestAnswers:
    """One section per address; an answer is saved when its field changes."""

    QUESTION = "collection.ethics"

    def save(self, owner, world, text, seen=""):
        sent = {self.QUESTION: text, f"seen-{self.QUESTION}": answer_version(seen)}
        address = reverse("publishing:save_answer", args=[world.project.slug, self.QUESTION])
        return owner.post(address, sent, headers={"HX-Request": "true"})

    def test_a_section_has_its_own_address_and_sends_only_its_answers(self, owner, world):
        DatasheetAnswer.objects.create(project=world.project, question="uses.used", text="In a paper.")
        fields = read_page(owner.get(url("datasheet", world), {"section": "collection"})).fields
        assert (self.QUESTION in fields, "uses.used" in fields) == (True, False)
        answer = owner.post(url("datasheet", world) + "?section=collection", {self.QUESTION: "Yes."})
        assert answer["Location"] == url("datasheet", world) + "?section=collection"
        assert dict(DatasheetAnswer.objects.values_list("question", "text")) == {
            "uses.used": "In a paper.",
            self.QUESTION: "Yes.",
        }
        assert owner.get(url("datasheet", world), {"section": "none"}).context["section"]["slug"] == "motivation"

    def test_a_changed_answer_is_saved_with_an_audit_row_and_counts_as_progress(self, owner, world):
        before = owner.get(url("datasheet", world)).context["form"].n_answered
        answer = self.save(owner, world, " Yes. ")
        assert answer.headers["HX-Trigger"] == "answersaved"
        read_page(answer).check(f"{before + 1} of 50 answered")
        assert read_page(answer).fields[f"seen-{self.QUESTION}"] == answer_version("Yes.")
        row = DatasheetAnswer.objects.get()
        assert (row.text, row.changed_by) == ("Yes.", world.owner)
        assert AuditEvent.objects.get().details["questions"] == [self.QUESTION]
        self.save(owner, world, "Yes.", "Yes.")
        assert AuditEvent.objects.count() == 1

    def test_an_answer_that_somebody_else_changed_is_not_overwritten(self, owner, world):
        answer_datasheet(world.owner, world.project, {self.QUESTION: "Theirs."})
        answer = self.save(owner, world, "Mine.")
        assert "HX-Trigger" not in answer.headers
        read_page(answer).check("Your text is not saved.", "Theirs.", f"{world.owner.username} changed this answer")
        assert DatasheetAnswer.objects.get().text == "Theirs."
        # The next change of the field is refused as well; the button sends the version that the person has now read.
        assert "Your text is not saved." in self.save(owner, world, "Mine, too.").content.decode()
        assert answer_version("Theirs.") in answer.content.decode()
        assert "HX-Trigger" in self.save(owner, world, "Mine.", "Theirs.").headers
        assert DatasheetAnswer.objects.get().text == "Mine."

    def test_the_form_keeps_the_text_of_a_conflict_and_stores_nothing(self, owner, world):
        answer_datasheet(world.owner, world.project, {self.QUESTION: "Theirs."})
        seen = {f"seen-{self.QUESTION}": answer_version("")}
        sent = {self.QUESTION: "Mine.", "collection.how": "By hand.", **seen}
        answer = owner.post(url("datasheet", world) + "?section=collection", sent)
        page = read_page(answer)
        page.check("Stored answer: Theirs.")
        assert (answer.status_code, page.fields[self.QUESTION]) == (422, "Mine.")
        assert [row.text for row in DatasheetAnswer.objects.all()] == ["Theirs."]
        with pytest.raises(ChangedMeanwhileError):
            answer_datasheet(world.owner, world.project, {self.QUESTION: ""}, {self.QUESTION: answer_version("")})

    def test_wrong_answers_are_explained_in_their_field(self, owner, world):
        answer = self.save(owner, world, "x" * 5_001)
        assert "at most 5000 characters" in answer.content.decode()
        assert "HX-Trigger" not in answer.headers
        unknown = reverse("publishing:save_answer", args=[world.project.slug, "no.question"])
        assert "no question" in owner.post(unknown, {"no.question": "x"}).content.decode()
        assert not DatasheetAnswer.objects.exists()

    def test_a_reload_after_the_last_answer_of_a_section_stays_in_the_section(self, owner, world):
        section = self.QUESTION.partition(".")[0]
        answer = self.save(owner, world, "Mine.", "")
        assert answer.headers["HX-Replace-Url"] == f"/projects/{world.project.slug}/datasheet/?section={section}"
        assert owner.get(answer.headers["HX-Replace-Url"]).context["section"]["slug"] == section

    def test_only_researchers_save_answers(self, client, world):
        client.force_login(world.ann)
        assert self.save(client, world, "x").status_code == 403


class TestWhatTheFormSays:
    """It says of the newest release what an export made at the same moment says."""

    def said(self, world, question):
        return own_answers(world.project)[1][question]

    def in_an_export(self, release, question):
        return "\n".join(answers_of(facts_of(collect_release(release)))[question])

    def test_of_a_second_release(self, world):
        valid(world, "one.")
        freeze_release(None, world.project, name="r1")
        assert self.said(world, "maintenance.updates").startswith("This is the first release")
        valid(world, "two.")
        release = freeze_release(None, world.project, name="r2")
        said = self.said(world, "maintenance.updates")
        assert said.startswith("Compared with the previous release (r1): 1 items added, 0 removed, 0 changed;")
        assert said == self.in_an_export(release, "maintenance.updates")

    def test_of_pay_and_judgements(self, world):
        item = valid(world, "one.")
        release = freeze_release(None, world.project)
        assert "No pay rates" in self.said(world, "collection.who")
        PayRate.objects.create(project=world.project, stage="validation", unit="piece", amount="0.10")
        assert "| validation | 0.1 EUR / piece | 0 |" in self.said(world, "collection.who")
        for person, choice in ((world.ann, "caption"), (world.owner, "both")):
            Vote.objects.create(item=item, foil=item.foils.get(), person=person, choice=choice, idempotency_key=choice)
        assert "2 judgements by 2 annotators" in self.said(world, "collection.who")
        assert "over all of these items is 0.000 (coding truth)." in self.said(world, "composition.errors")
        for question in ("collection.who", "composition.errors"):
            assert self.said(world, question) == self.in_an_export(release, question)

    def test_of_a_video_that_was_taken_down(self, world):
        item = valid(world, "one.")
        valid(world, "two.")
        freeze_release(None, world.project)
        assert self.said(world, "composition.missing").startswith("No released item is withheld.")
        take_down_video(world.owner, world.project.slug, item.video_id, "asked for by its author")
        assert self.said(world, "composition.missing").startswith("1 items are withheld")

    def test_of_consent(self, world):
        item = valid(world, "one.")
        release = freeze_release(None, world.project)
        for person in (world.vera, world.vic, world.owner):
            Vote.objects.create(item=item, foil=item.foils.get(), person=person, choice="caption", idempotency_key="k")
        publish_consent_text(world.owner, world.project, "We keep what you judge.", "keep")
        assert self.said(world, "collection.consent").startswith("0 of the 3 people who wrote, reviewed or judged")
        for person in (world.vera, world.vic):
            give_consent(person, world.project, 1)
        said = self.said(world, "collection.consent")
        assert said.startswith("2 of the 3 people")
        assert said.endswith("researchers write that text and are not asked to accept it.")
        # Who takes it back has agreed all the same; the work went by it.
        Consent.objects.filter(person=world.vera).update(withdrawn_at=timezone.now())
        give_consent(world.owner, world.project, 1)
        said = self.said(world, "collection.consent")
        assert said == "Annotators agreed to version 1 (or an earlier one) of the project's consent text."
        Vote.objects.create(item=item, source="import", imported_as="w1", import_index=0, choice="caption")
        said = self.said(world, "collection.notified")
        assert said.endswith("1 judgements were imported; consent for them is not recorded here.")
        assert said == self.in_an_export(release, "collection.notified")


class TestImportedItems:
    """What was imported has a history that nobody here knows."""

    def sheet(self, release, out):
        foilworks.write(collect_release(release), out, params={})
        assert ("rejected.jsonl" in (out / "README.md").read_text()) == (out / "rejected.jsonl").exists()
        return (out / "datasheet.md").read_text()

    def test_their_datasheet_mentions_no_work_of_this_project(self, tmp_path):
        project = make_project()
        lines = [
            {
                "id": name,
                "video": f"{name}.mp4",
                "caption": f"a {name} rolls.",
                "foil": f"a {name} stops.",
                "votes": {"caption": 3, "foil": 0, "other": 0},
            }
            for name in ("ball", "cube")
        ]
        (tmp_path / "moves.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert import_records(project, None, "jsonl", tmp_path / "moves.jsonl").errors == []
        sheet = self.sheet(freeze_release(None, project), tmp_path / "out")
        for claim in ("are reviewed", "are validated", "were made between", "rejected.jsonl"):
            assert claim not in sheet
        assert "Yes: single judgements in `votes.jsonl`." in sheet

    def test_partial_work_is_reported_in_the_datasheet(self, world, tmp_path):
        item = valid(world, "one.")
        Vote.objects.create(item=item, foil=item.foils.get(), person=world.vera, choice="caption", idempotency_key="k")
        sheet = self.sheet(freeze_release(None, world.project), tmp_path / "imported")
        assert "Imported foils are unchanged. Foils are validated: people" in sheet
        assert "\nJudgements were made between" in sheet
        assert "When imported texts were made is not recorded." in sheet
        other = valid(world, "two.")
        group = make_group(make_run(world.subtest), other.caption)
        make_candidate(group, "no two.", state="accepted", foil=other.foils.get())
        make_candidate(group, "a dot stands.", state="filtered_out", rejected_by=["fluency"])
        sheet = self.sheet(freeze_release(None, world.project), tmp_path / "mixed")
        assert "are reviewed. `items.jsonl` has the provenance of each foil. Imported foils are unchanged." in sheet
        assert "\nTexts and judgements were made between" in sheet
        assert "Yes: rejected candidates in `rejected.jsonl`, single judgements in `votes.jsonl`." in sheet


class TestChangelog:
    def test_it_is_stored_with_the_release_and_exported(self, world):
        first, second = valid(world, "one."), valid(world, "two.")
        old = freeze_release(None, world.project, name="r1")
        assert changelog_of(old) is None
        valid(world, "three.")
        second.state = "retracted"
        second.save()
        first.caption.facts = {"count": 2}
        first.caption.save()
        new = freeze_release(None, world.project, name="r2")
        name = world.subtest.name
        assert ReleaseChangelog.objects.get(release=new).data == {
            "before": {"id": old.pk, "name": "r1", "content_hash": old.content_hash},
            "added": [f"{name}:three."],
            "removed": [f"{name}:two."],
            "changed": [{"id": f"{name}:one.", "fields": ["facts.count"]}],
            "n_same": 0,
        }
        assert collect_release(new).tables["changes"] == changelog_of(new)

    def test_an_older_release_without_a_changelog_has_one_computed(self, world):
        valid(world, "one.")
        old = freeze_release(None, world.project)
        valid(world, "two.")
        new = freeze_release(None, world.project)
        ReleaseChangelog.objects.all().delete()
        assert changelog_of(new) == compared(old, new)
        assert changelog_of(new)["n_same"] == 1

    def test_the_command_prints_how_much_changed(self, world, capsys):
        valid(world, "one.")
        call_command("release", "--project", "dots", "--name", "r1", "--json")
        assert json.loads(capsys.readouterr().out)["changes"] is None
        valid(world, "two.")
        call_command("release", "--project", "dots", "--name", "r2")
        assert capsys.readouterr().out.endswith("since r1: 1 added, 0 removed, 0 changed, 1 same\n")

    def test_fields_are_named_down_to_what_differs(self):
        old = {"caption": "a", "foils": ["x"], "video": {"start_time": 1, "url": ""}, "gone": None}
        new = {"caption": "b", "foils": ["x"], "video": {"start_time": 2, "url": ""}, "new": None}
        assert changed_fields(old, new) == ["caption", "gone", "new", "video.start_time"]


def test_rejected_candidates_are_exported_without_taken_down_videos(world):
    item = valid(world, "a dot moves.")
    group = make_group(make_run(world.subtest), item.caption)
    gone = make_candidate(group, "a dot stands.", state="filtered_out", rejected_by=["fluency"])
    make_score(gone, "fluency", passed=False, score=0.1)
    make_candidate(group, "a dot waits.", state="queued")
    release = freeze_release(None, world.project)
    (row,) = collect_release(release).papers.rejected()
    assert (row["text"], row["rejected_by"], row["state"]) == ("a dot stands.", ["fluency"], "filtered_out")
    assert row["provenance"]["filters"] == [{"filter": "fluency", "version": "1", "score": 0.1, "passed": False}]
    take_down_video(world.owner, world.project.slug, item.video_id, "asked for by its author")
    assert Candidate.objects.filter(state="filtered_out").exists()
    assert list(collect_release(release).papers.rejected()) == []
