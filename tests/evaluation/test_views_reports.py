"""Report pages, their charts and files: the numbers of the stored reports, people under pseudonyms."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest
from django.urls import reverse

from annotation.models import Guideline, Stage, Vote
from evaluation.reports.pages import PAGES
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Caption, Foil
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.projects.models import Role
from foilworks.core.projects.pseudonyms import pseudonym
from generation.models import FilterScore
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)

pytestmark = pytest.mark.django_db
WITHOUT_DATA = {"skill", "irt", "certificate", "fair", "verbs", "filters", "objects", "screening"}


@pytest.fixture
def project():
    return make_project(slug="shapes")


@pytest.fixture
def validators(project):
    return [make_member(project, Role.VALIDATOR, name=f"val-{n}") for n in range(3)]


def judged(subtest, people, n: int, choices=("caption", "caption", "foil"), state=ItemState.VALID, **fields):
    """n items whose three validators answered `choices`; the caption stood first for the first of them only."""
    for k in range(n):
        caption = make_caption(make_video(subtest.project), f"a dog runs to the left, take {k} {state}.")
        foil = caption.text.replace("left", "right")
        item = make_item(subtest, caption, (foil,), state=state, unanimous=len(set(choices)) == 1, **fields)
        Vote.objects.bulk_create(
            Vote(
                item=item,
                foil=item.foils.get(),
                person=person,
                idempotency_key=f"{item.pk}",
                choice=choice,
                caption_first=place == 0,
            )
            for place, (person, choice) in enumerate(zip(people, choices, strict=True))
        )


def url(project, kind: str) -> str:
    return reverse("reports:report", args=[project.slug, kind])


def file_url(project, kind: str, extension: str) -> str:
    return reverse("reports:report_file", args=[project.slug, kind, extension])


class TestPages:
    @pytest.fixture(autouse=True)
    def world(self, project, validators):
        subtest = make_subtest(project, name="Direction", test="Motion")
        judged(subtest, validators, 4)
        judged(subtest, validators, 2, ("foil", "foil", "neither"), ItemState.INVALID)
        group = make_group(make_run(subtest), Caption.objects.first())
        for number, foil in enumerate(Foil.objects.order_by("pk")[:3]):
            verb = ("jump", "jump", "stand")[number]
            made = make_candidate(
                group,
                f"a dog {verb}s {number}",
                foil=foil,
                method=("verb", "verb", "person")[number],
                state=CandidateState.ACCEPTED,
            )
            scored = {"run": group.run, "filter": "nli", "filter_version": "1", "score": 0.1, "passed": True}
            FilterScore.objects.create(candidate=made, **scored)

    @pytest.mark.parametrize("kind", PAGES)
    def test_every_report_has_a_page(self, owner, project, kind):
        response = owner.get(url(project, kind))
        assert response.status_code == 200
        # Nobody has looked at a frame here, and no model has scored or screened; their pages say so.
        assert ("why" in response.context) is (kind in {"irt", "objects", "screening"})

    def test_validation_prints_counts_shares_and_the_named_coding(self, owner, project):
        html = owner.get(url(project, "validation")).content.decode()
        # 4 of 6 items are valid.
        assert "66.7 %" in html
        assert '<td class="mono">truth</td>' in html
        assert "range restriction" in html
        # Of 18 votes: 4 * 2 for the caption, 4 + 2 * 2 for the foil, 2 for neither.
        assert "caption 44%, foil 44%, neither 11%" in html

    def test_validation_says_which_alpha_has_no_value_and_why(self, owner, project, validators):
        subtest = make_subtest(project, name="Colour")
        judged(subtest, validators, 2, ("caption", "caption", "caption"))
        judged(subtest, validators, 1, ("foil", "foil", "foil"), ItemState.INVALID)
        html = " ".join(owner.get(url(project, "validation")).content.decode().split())
        assert "Colour, Alpha valid: all votes are in one category" in html
        assert "Colour, Alpha all" not in html

    def test_agreement_shows_every_coding_under_its_name(self, owner, project):
        context = owner.get(url(project, "agreement")).context
        assert [row["coding"] for row in context["codings"]] == ["truth", "shown", "truth3"]
        assert context["codings"][0]["alpha"] == project_report(project, "agreement")["alpha"]
        # All 18 votes but the two for neither.
        assert context["position"]["n"] == 16

    def test_agreement_is_separate_for_each_version_of_the_guidelines(self, owner, project):
        assert "By version of the guidelines" not in owner.get(url(project, "agreement")).content.decode()
        version = Guideline.objects.create(project=project, stage=Stage.VALIDATION, version=2, text="Look again.")
        told = list(Vote.objects.order_by("pk").values_list("pk", flat=True)[:9])
        Vote.objects.filter(pk__in=told).update(guideline=version)
        response = owner.get(url(project, "agreement"))
        rows = response.context["data"]["guidelines"]
        assert {row["guideline"]: row["n_votes"] for row in rows} == {"none": 9, "v2": 9}
        assert ">v2</th>" in response.content.decode()

    def test_agreement_names_people_by_pseudonym_only(self, owner, project, validators):
        html = owner.get(url(project, "agreement")).content.decode()
        for person in validators:
            assert person.username not in html
            assert pseudonym(project, person.pk) in html

    def test_people_are_under_pseudonyms_in_files_too(self, owner, project, validators):
        for kind in ("agreement", "people"):
            for extension in ("json", "csv"):
                text = owner.get(file_url(project, kind, extension)).content.decode()
                assert "val-" not in text
                assert pseudonym(project, validators[0].pk) in text

    def test_verbs_of_machines_and_people_are_side_by_side(self, owner, project):
        data = owner.get(url(project, "verbs")).context["data"]
        assert {row["verb"]: (row["machine"], row["person"]) for row in data["rows"]} == {
            "jump": (1.0, 0.0),
            "stand": (0.0, 1.0),
        }
        rows = list(csv.reader(io.StringIO(owner.get(file_url(project, "verbs", "csv")).content.decode())))
        assert rows[0] == ["verb", "machine", "person"]

    def test_number_words_come_from_the_captions(self, owner, project):
        Caption.objects.filter(pk=Caption.objects.first().pk).update(text="two dogs and 7 cats")
        data = owner.get(url(project, "numbers")).context["data"]
        shares = {row["group"]: row["share"] for row in data["rows"]}
        # The other five captions say "take 0" ... "take 3" (0 is no number) and "take 0", "take 1": 1, 2, 3, 1.
        assert data["n_numbers"] == 6
        assert (shares["2"], shares["6-10"]) == (2 / 6, 1 / 6)

    def test_divergence_lists_the_words_that_shift_and_not_the_others(self, owner, project):
        shifts = owner.get(url(project, "divergence")).context["shifts"]
        assert {row["word"] for row in shifts} == {"left", "right"}

    def test_a_report_of_one_subtest_is_selected_by_name(self, owner, project, validators):
        judged(make_subtest(project, name="Counting"), validators, 1)
        data = owner.get(url(project, "validation"), {"subtest": "Counting"}).context["data"]
        assert [row["name"] for row in data["subtests"]] == ["Counting"]

    def test_invalid_choices_fall_back_to_the_defaults(self, owner, project):
        response = owner.get(url(project, "divergence"), {"base": "10", "unit": "<script>", "subtest": "nowhere"})
        assert response.status_code == 200
        assert (response.context["data"]["base"], response.context["data"]["unit"]) == ("2", "words")

    def test_parameters_reach_the_report_its_charts_and_its_files(self, owner, project):
        response = owner.get(url(project, "divergence"), {"base": "e"})
        assert response.context["data"]["base"] == "e"
        assert "words.svg?base=e" in response.content.decode()
        assert owner.get(file_url(project, "divergence", "json"), {"base": "e"}).json()["base"] == "e"

    @pytest.mark.full
    def test_more_items_need_no_more_queries(self, owner, project, validators, django_assert_max_num_queries):
        subtest = make_subtest(project, name="More")
        for kind in PAGES:
            # The first look stores the report, later ones change the row.
            owner.get(url(project, kind))
            seen = []
            for n in (1, 6):
                judged(subtest, validators, n)
                with django_assert_max_num_queries(45) as queries:
                    owner.get(url(project, kind))
                seen.append(len(queries))
            assert seen[0] == seen[1], kind


class TestFiles:
    @pytest.fixture(autouse=True)
    def world(self, project, validators):
        judged(make_subtest(project, name="=cmd|' /C calc'!A0"), validators, 3)

    # Nobody asked for skill yet, and no foil was made here: none has a verb to count, or a filter's score. No model has
    # scored or screened.
    @pytest.mark.parametrize("kind", sorted(set(PAGES) - WITHOUT_DATA))
    def test_json_and_csv_are_downloads(self, owner, project, kind):
        for extension, content_type in (("json", "application/json"), ("csv", "text/csv; charset=utf-8")):
            response = owner.get(file_url(project, kind, extension))
            assert response["Content-Type"] == content_type
            assert response["Content-Disposition"] == f'attachment; filename="shapes-{kind}.{extension}"'

    def test_the_main_table_for_papers(self, owner, project):
        tex = owner.get(file_url(project, "validation", "tex")).content.decode()
        assert r"\toprule" in tex
        assert r"'=cmd" not in tex
        assert tex.count(r" \\") == 3
        rows = owner.get(file_url(project, "validation", "md")).content.decode().splitlines()
        assert rows[0].startswith("| name | test | n_items |")
        assert "=cmd\\|'" in rows[2]

    def test_json_has_the_content_of_the_report(self, owner, project):
        assert owner.get(file_url(project, "validation", "json")).json() == project_report(project, "validation")

    def test_a_spreadsheet_executes_no_cell(self, owner, project):
        text = owner.get(file_url(project, "validation", "csv")).content.decode()
        header, first, overall = csv.reader(io.StringIO(text))
        assert first[0] == "'=cmd|' /C calc'!A0"
        assert dict(zip(header, overall, strict=True))["n_items"] == "3"

    @pytest.mark.parametrize(("kind", "chart"), [("validation", "votes"), ("divergence", "words")])
    def test_charts_are_svg_without_scripts(self, owner, project, kind, chart):
        response = owner.get(reverse("reports:report_chart", args=[project.slug, kind, chart]))
        assert response["Content-Type"] == "image/svg+xml"
        tags = {element.tag.split("}")[-1] for element in ET.fromstring(response.content).iter()}
        assert "svg" in tags
        assert "script" not in tags

    @pytest.mark.parametrize(
        "address",
        [
            "nonsense/",
            "validation/words.svg",
            "divergence/votes.svg",
            "validation/download.exe",
            "nonsense/download.csv",
        ],
    )
    def test_an_unknown_report_does_not_exist(self, owner, project, address):
        assert owner.get(f"/projects/shapes/reports/{address}").status_code == 404


@pytest.mark.parametrize("kind", PAGES)
def test_a_project_without_items_says_so(owner, project, kind):
    response = owner.get(url(project, kind))
    assert response.status_code == 200
    assert "yet" in response.content.decode()


def test_the_file_of_an_empty_report_names_what_is_missing(owner, project):
    response = owner.get(file_url(project, "validation", "json"))
    assert response.status_code == 400
    assert "no items" in response.content.decode()


def test_the_start_page_names_every_report_and_what_is_missing(owner, project):
    page = owner.get(reverse("reports:reports", args=["shapes"]))
    links = {url(project, slug) for slug in PAGES}
    assert links <= set(re.findall(r'href="([^"]+)"', page.content.decode()))
    assert [tile.value for tile in page.context["tiles"]] == ["", "", "", ""]
    assert all(tile.note for tile in page.context["tiles"])
