"""Pages of runs: the list, the form that comes out of the tables, live progress, the ledger, a candidate's origin."""

import pytest
from django.urls import reverse

from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.core.text.registry import load
from generation.default_filters import default_filters
from generation.filters.registry import FILTERS, needs_weights
from generation.methods.registry import METHODS
from generation.models import GenerationRun
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_score,
    make_subtest,
    make_video,
)
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def subtest(project):
    return make_subtest(project, name="Direction")


@pytest.fixture
def owner(client, project):
    client.force_login(make_member(project, Role.RESEARCHER, name="owner"))
    return client


def url(name: str, project, *args) -> str:
    return reverse(f"generation:{name}", args=[project.slug, *args])


def form_data(subtest, **changes):
    data = {"method": "number", "subtest": subtest.pk, "mode": "corrected", "seed": "3", "split": "", "filters": []}
    return {**data, **changes}


def rejected(candidate, *filters: str) -> None:
    for slug in ("identical", "minimal_edit"):
        make_score(candidate, slug, passed=slug not in filters)


class TestNewRun:
    def test_a_run_starts_with_the_values_of_the_form(self, owner, project, subtest):
        make_caption(make_video(project, split="test"), "a man claps exactly three times.")
        answer = owner.post(
            url("new_run", project),
            form_data(
                subtest,
                split="test",
                filters=["identical", "minimal_edit"],
                **{"method-max": "5", "method-split": "easy", "minimal_edit-max_words": "2", "duplicate-x": "unread"},
            ),
        )
        run = GenerationRun.objects.get()
        assert answer["Location"] == url("run", project, run.pk)
        assert (run.method, run.mode, run.seed, run.subtest) == ("number", "corrected", 3, subtest)
        assert (run.params["max"], run.params["split"], run.params["anchor"]) == (5, "easy", "any")
        assert {row["slug"]: row["params"].get("max_words") for row in run.filters} == {
            "identical": None,
            "minimal_edit": 2,
        }
        assert run.selection["split"] == "test"
        assert run.job.state == JobState.WAITING
        assert AuditEvent.objects.get().action == "generation.start_run"

    def test_a_run_can_have_no_filter(self, owner, project, subtest):
        make_caption(make_video(project))
        owner.post(url("new_run", project), form_data(subtest))
        assert GenerationRun.objects.get().filters == []

    def test_an_invalid_parameter_has_its_error_next_to_it(self, owner, project, subtest):
        make_caption(make_video(project))
        answer = owner.post(url("new_run", project), form_data(subtest, **{"method-max": "many"}))
        assert answer.status_code == 422
        assert "max" in answer.context["form"].params.errors
        assert not GenerationRun.objects.exists()

    @pytest.mark.parametrize(
        ("method", "given", "field", "message"),
        [
            ("preposition", {"method-pairs": "right left"}, "pairs", "'right left' is not a pair"),
            ("number", {"method-max": "50"}, "max", "give a whole number from 2 to 20"),
            ("colour_swap", {"method-tagger": "nltk"}, "tagger", "there is no tagger 'nltk'"),
            ("mask_fill", {"method-model": "/etc"}, "model", "neither a model of this project"),
            ("person", {"method-foils": "3"}, "foils", "needs 1 foils per item"),
        ],
    )
    def test_what_the_method_refuses_has_its_error_at_the_field(
        self, owner, project, subtest, method, given, field, message
    ):
        make_caption(make_video(project))
        answer = owner.post(url("new_run", project), form_data(subtest, method=method, **given))
        assert answer.status_code == 422
        assert message in answer.context["form"].params.errors[field][0]
        assert not GenerationRun.objects.exists()
        assert not Job.objects.exists()

    def test_parameters_of_a_filter_that_is_not_chosen_are_ignored(self, owner, project, subtest):
        make_caption(make_video(project))
        wrong = {"minimal_edit-max_words": "few"}
        assert owner.post(url("new_run", project), form_data(subtest, **wrong)).status_code == 302
        answer = owner.post(url("new_run", project), form_data(subtest, filters=["minimal_edit"], **wrong))
        assert answer.status_code == 422

    def test_a_run_without_captions_is_refused_with_the_remedy(self, owner, project, subtest):
        answer = owner.post(url("new_run", project), form_data(subtest))
        assert answer.status_code == 422
        assert "import captions" in answer.content.decode()
        assert not GenerationRun.objects.exists()

    def test_the_subtest_of_another_project_cannot_be_chosen(self, owner, project, subtest):
        foreign = make_subtest(make_project())
        answer = owner.post(url("new_run", project), form_data(foreign))
        assert "subtest" in answer.context["form"].errors

    def test_a_method_preselects_its_default_filters(self, owner, project):
        def chosen(method: str) -> set[str]:
            form = owner.get(url("method_fields", project), {"method": method}).context["form"]
            return {row.slug for row in form.chosen_rows()}

        assert chosen("number") == {"identical", "duplicate", "minimal_edit", "draw"}
        # Another video's caption shares hardly a word with this one's.
        assert chosen("random_caption") == {"identical", "duplicate"}

    @pytest.mark.parametrize("method", METHODS)
    def test_the_form_has_a_field_for_every_parameter_of_every_method(self, owner, project, subtest, method):
        page, fragment = (
            read_page(owner.get(url(name, project), {"method": method})) for name in ("new_run", "method_fields")
        )
        assert {
            f"method-{param.name}" for param in METHODS[method].params
        } <= page.fields.keys() & fragment.fields.keys()
        assert "html" not in fragment.tags

    @pytest.mark.parametrize("asked", ["", "../etc"])
    def test_no_method_is_preselected(self, owner, project, subtest, asked):
        page = read_page(owner.get(url("new_run", project), {"method": asked} if asked else {}))
        radios = [field.attributes for field in page.all("input") if field.attributes.get("name") == "method"]
        assert [radio["type"] for radio in radios if "checked" not in radio] == ["radio"] * len(METHODS)
        assert reverse("generation:methods") in page.after("method-fields").links
        assert not [name for name in page.fields if name.startswith("method-")]
        answer = owner.post(url("new_run", project), form_data(subtest, method="", seen=""))
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == ["method"]
        assert "Not started yet." not in answer.content.decode()

    def test_chosen_filters_come_first_and_filters_with_weights_last(self, owner, project, subtest):
        answer = owner.get(url("new_run", project), {"method": "number"})
        form, html = answer.context["form"], answer.content.decode()
        assert [row.slug for row in form.chosen_rows()] == ["minimal_edit", "duplicate", "draw", "identical"]
        more = form.more_rows()
        assert len(more) == len(FILTERS) - 4
        assert [bool(row.weights) for row in more] == sorted(bool(row.weights) for row in more)
        assert html.index('value="identical"') < html.index("More filters") < html.index('value="has_verb"')
        assert html.count("needs a model") == sum(row.weights == "model" for row in more)
        assert html.count("needs word vectors") == 1

    def test_checked_filters_come_first_after_an_error(self, owner, project, subtest):
        answer = owner.post(url("new_run", project), form_data(subtest, filters=["nli"], **{"method-max": "many"}))
        assert [row.slug for row in answer.context["form"].chosen_rows()] == ["nli"]

    def test_a_wrong_share_of_the_video_model_is_said_at_its_field(self, owner, project, subtest):
        make_caption(make_video(project))
        given = form_data(subtest, filters=["video_judge"], **{"video_judge-share": "10"})
        page = owner.post(url("new_run", project), given)
        assert "filter 'video_judge': parameter 'share' is 10" in page.context["form"].non_field_errors()[0]
        assert page.context["form"].filter_params["video_judge"].errors["share"]
        assert page.context["form"].has_filter_errors()

    def test_filters_that_load_a_model_are_marked(self):
        asking = {slug for slug, entry in FILTERS.items() if hasattr(load(entry), "measure_many")}
        marked = {slug for slug, entry in FILTERS.items() if needs_weights(entry)}
        assert asking <= marked
        assert marked - asking <= {"detector", "word_similarity", "meaning"}

    def test_a_run_like_another_starts_with_its_settings(self, owner, project, subtest):
        make_subtest(project, name="Another")
        old = make_run(
            subtest,
            method="number",
            mode="paper",
            seed=7,
            params={"max": 4, "gone": 1},
            selection={"split": "val"},
            filters=[{"slug": "minimal_edit", "params": {"max_words": 9}}, {"slug": "gone", "params": {}}],
        )
        form = owner.get(url("new_run", project), {"like": old.pk}).context["form"]
        begun = {name: form[name].value() for name in ("subtest", "method", "mode", "seed", "split", "filters")}
        assert begun == {
            "subtest": subtest.pk,
            "method": "number",
            "mode": "paper",
            "seed": 7,
            "split": "val",
            "filters": ["minimal_edit"],
        }
        assert form.params["max"].value() == 4
        assert form.filter_params["minimal_edit"]["max_words"].value() == 9
        other = owner.get(url("new_run", project), {"like": old.pk, "method": "person"}).context["form"]
        assert (other.method_slug, other["seed"].value(), other["subtest"].value()) == ("person", 7, subtest.pk)
        foreign = make_run(make_subtest(make_project()))
        assert owner.get(url("new_run", project), {"like": foreign.pk}).status_code == 404
        assert owner.get(url("new_run", project), {"like": "9" * 40}).status_code == 200

    def test_without_a_subtest_the_page_offers_to_create_one(self, owner, project):
        assert reverse("corpus:subtests", args=[project.slug]) in owner.get(url("new_run", project)).content.decode()


class TestGallery:
    def test_each_method_has_an_example_a_kind_and_its_papers(self, owner, project, subtest):
        answer = owner.get(url("new_run", project))
        rows = {row.slug: row for row in answer.context["form"].gallery()}
        assert rows.keys() == METHODS.keys()
        assert [text for kind, text in rows["number"].example if kind == "added"] == ["nine"]
        assert (str(rows["chat"].kind), rows["chat"].papers) == ("Instruction model", "Feint6K")
        assert (rows["number"].papers, rows["colour_swap"].papers) == ("ViLMA", "")
        assert rows["mask_fill"].papers == "ViLMA, Feint6K"

    def test_main_parameters_come_first_and_the_others_are_folded(self, owner, project, subtest):
        html = owner.get(url("new_run", project), {"method": "number"}).content.decode()
        advanced = html.index("Advanced</summary>")
        places = {name: html.index(f'name="method-{name}"') for name in ("foils", "max", "anchor", "split", "leftover")}
        assert {name for name, place in places.items() if place < advanced} == {"foils", "max", "anchor"}
        assert html.index('name="mode"') > advanced

    def test_mode_and_seed_survive_another_method(self, owner, project, subtest):
        kept = {"method": "fake", "mode": "paper", "seed": "12"}
        form = owner.get(url("method_fields", project), kept).context["form"]
        assert (form["mode"].value(), form["seed"].value()) == ("paper", "12")


class TestPresets:
    def presets(self, owner, project, method: str) -> dict[str, str]:
        form = owner.get(url("method_fields", project), {"method": method}).context["form"]
        return {row.slug: row.label for row in form.preset_rows()}

    def test_a_method_offers_the_filters_of_its_papers(self, owner, project, subtest):
        assert self.presets(owner, project, "number") == {
            "default": "Default",
            "minimal": "Minimal",
            "vilma-counting-easy": "ViLMA",
            "strict": "Strict, without models",
        }
        # The same choice is offered once.
        assert "minimal" not in self.presets(owner, project, "random_caption")
        assert self.presets(owner, project, "mask_fill")["feint6k-teacher"] == "Feint6K"
        assert list(self.presets(owner, project, "preposition").values())[2] == "ViLMA"

    def test_a_preset_chooses_filters_with_their_parameters(self, owner, project, subtest):
        asked = {"method": "preposition", "mode": "paper", "preset": "vilma-spatial"}
        answer = owner.get(url("method_fields", project), asked)
        form = answer.context["form"]
        assert {row.slug for row in form.chosen_rows()} == {
            "identical",
            "duplicate",
            "nli",
            "grammaticality",
            "frequency_clipping",
        }
        assert form.filter_params["grammaticality"]["min"].value() == 0.6
        assert form.filter_params["frequency_clipping"]["relations"].value() == "paper"
        assert [row.slug for row in form.preset_rows() if row.is_selected] == ["vilma-spatial"]
        assert not [name for name in read_page(answer).fields if name.startswith("method-")]

    def test_the_preset_of_sent_filters_is_marked(self, owner, project, subtest):
        sent = form_data(subtest, filters=["identical", "duplicate"], **{"method-max": "many"})
        form = owner.post(url("new_run", project), sent).context["form"]
        assert [row.slug for row in form.preset_rows() if row.is_selected] == ["minimal"]


class TestPreview:
    @pytest.fixture
    def captions(self, project):
        return [make_caption(make_video(project), f"a man lifts a red box and {n} blue balls") for n in range(2, 14)]

    def preview(self, owner, project, subtest, **data):
        answer = owner.post(url("run_preview", project), form_data(subtest, **data))
        assert answer.status_code == 200
        assert not GenerationRun.objects.exists()
        return answer

    def test_the_preview_measures_texts_with_and_without_the_draw(self, owner, project, subtest):
        for n in range(20):
            make_caption(make_video(project), f"a {'woman' if n % 2 else 'man'} opens door {n}")
        data = form_data(subtest, method="gender_swap", filters=["identical", "draw"])
        drawn = owner.post(f"{url('run_preview', project)}?draw=1", data).context["drawn"]
        assert (drawn.n_captions, drawn.n_without, drawn.is_drawn) == (20, 20, True)
        # A coin between ten and ten.
        assert 10 <= drawn.n_with <= 20
        assert sum(n for _, n in drawn.left_out) == 20 - drawn.n_with
        assert drawn.without["verdict"]
        plain = owner.post(f"{url('run_preview', project)}?draw=1", {**data, "filters": ["identical"]})
        assert not plain.context["drawn"].is_drawn
        unread = owner.post(f"{url('run_preview', project)}?draw=1", form_data(subtest, method="mask_fill"))
        assert unread.context["drawn"] is None

    def test_foils_reasons_and_the_expected_number_are_shown(self, owner, project, subtest, captions):
        make_caption(make_video(project), "nobody moves")
        data = {"method": "fake", "seen": "fake", "method-lexicon": "man:woman", "filters": ["identical"]}
        answer = self.preview(owner, project, subtest, **data)
        shown = answer.context["preview"]
        assert (len(shown.rows), shown.n_captions) == (8, 13)
        assert ("added", "woman") in shown.rows[0].foils[0].segments
        assert shown.expected == round(shown.n_passed * 13 / 8)
        assert f"about {shown.expected} foils from 13 captions" in answer.content.decode()
        again = self.preview(owner, project, subtest, **data).context["preview"]
        assert again == shown

    def test_a_caption_without_a_foil_says_why(self, owner, project, subtest):
        make_caption(make_video(project), "a red box moves")
        answer = self.preview(owner, project, subtest, method="colour_swap", seen="colour_swap")
        assert "it names fewer than two colours" in answer.content.decode()
        assert answer.context["preview"].expected == 0

    def test_rejections_are_counted_and_filters_with_models_are_named(self, owner, project, subtest, captions):
        data = {"method": "fake", "seen": "fake", "method-lexicon": "man:tall old woman in red with a hat"}
        chosen = {**data, "filters": ["minimal_edit", "nli"]}
        shown = self.preview(owner, project, subtest, **chosen).context["preview"]
        assert (shown.rejections, shown.not_run, shown.expected) == ([("Minimal edit", 8)], ["Entailment"], 0)
        assert shown.rows[0].foils[0].rejected_by == ("Minimal edit",)

    def test_a_foil_of_an_earlier_run_counts_as_a_duplicate(self, owner, project, subtest):
        caption = make_caption(make_video(project), "a man sits")
        make_item(subtest, caption, ("a woman sits",))
        data = {"method": "fake", "seen": "fake", "method-lexicon": "man:woman", "filters": ["duplicate"]}
        assert self.preview(owner, project, subtest, **data).context["preview"].rejections == [("Duplicate", 1)]

    def test_people_write_as_many_foils_as_the_subtest_needs(self, owner, project, subtest, captions):
        shown = self.preview(owner, project, subtest, method="person", seen="person", **{"method-foils": "0"})
        assert shown.context["preview"].expected == len(captions)

    def test_a_limit_and_a_split_choose_the_captions(self, owner, project, subtest, captions):
        data = {"method": "fake", "seen": "fake"}
        assert self.preview(owner, project, subtest, limit="3", **data).context["preview"].n_captions == 3
        none = self.preview(owner, project, subtest, split="val", **data)
        assert "There are no captions to preview" in none.content.decode()

    @pytest.mark.parametrize(
        ("method", "given"),
        [
            ("mask_fill", {}),
            ("chat", {"method-model": "some/model", "method-template": "counterfactual@1"}),
            ("preposition", {"method-model": "google-t5/t5-base"}),
        ],
    )
    def test_a_method_with_a_model_is_not_previewed(self, owner, project, subtest, captions, method, given):
        answer = self.preview(owner, project, subtest, method=method, seen=method, **given)
        assert (
            "No preview, because this method needs a model. To try it, start a run on 5 captions"
            in answer.content.decode()
        )

    def test_invalid_settings_are_named(self, owner, project, subtest, captions):
        given = {"method-pairs": "right left"}
        answer = self.preview(owner, project, subtest, method="preposition", seen="preposition", **given)
        read_page(answer).check("is not a pair", "No preview.")

    def test_nothing_is_previewed_before_the_page_has_the_parameters(self, owner, project, subtest, captions):
        answer = owner.post(url("run_preview", project), form_data(subtest, method="fake", seen="number"))
        assert answer.status_code == 204
        assert "Choose a method" in self.preview(owner, project, subtest, method="", seen="").content.decode()

    def test_the_preview_tags_words_by_rules(self, owner, project, subtest, captions):
        shown = self.preview(owner, project, subtest, method="colour_swap", seen="colour_swap").context["preview"]
        assert shown.offline_tagger
        assert shown.n_passed == 8


class TestRuns:
    def test_a_long_list_needs_as_many_queries_as_a_short_one(self, owner, project, subtest, django_assert_num_queries):
        for n in range(12):
            run = make_run(subtest, job=Job.objects.create(dotted="x", target_id=1))
            make_candidate(make_group(run), state=CandidateState.FILTERED_OUT if n % 2 else CandidateState.ACCEPTED)
            if n in (0, 11):
                # Session, person, project, roles, count, rows, their counts.
                with django_assert_num_queries(8):
                    answer = owner.get(url("runs", project))
        newest = answer.context["listing"].page.rows[0].counts
        assert (newest.generated, newest.rejected, newest.accepted) == (1, 1, 0)

    def test_an_empty_list_explains_runs(self, owner, project):
        assert "No runs yet" in owner.get(url("runs", project)).content.decode()


class TestRun:
    @pytest.fixture
    def run(self, subtest):
        run = make_run(subtest, method="number")
        for n in range(30):
            state = CandidateState.FILTERED_OUT if n < 3 else CandidateState.QUEUED
            rejected(make_candidate(make_group(run), state=state), *(["minimal_edit"] if n < 3 else []))
        return run

    def test_states_and_rejections_are_counted(self, owner, project, run):
        context = owner.get(url("run", project, run.pk)).context
        assert context["states"] == [("filtered_out", 3), ("queued", 27)]
        assert [(row.slug, row.judged, row.rejected) for row in context["filters"]] == [
            ("identical", 30, 0),
            ("minimal_edit", 30, 3),
        ]

    def test_candidates_are_filtered_by_state_and_filter(self, owner, project, run):
        page = url("run", project, run.pk)
        assert owner.get(page).context["listing"].count.n == 30
        assert owner.get(page, {"state": "filtered_out"}).context["listing"].count.n == 3
        assert owner.get(page, {"rejected_by": "minimal_edit"}).context["listing"].count.n == 3
        assert owner.get(page, {"rejected_by": "identical"}).context["listing"].count.n == 0

    def test_a_page_of_candidates_needs_a_fixed_number_of_queries(self, owner, project, run, django_assert_num_queries):
        # Session, person, project, roles, run, count, candidates, their scores, spans of scores, states, filters, draw.
        with django_assert_num_queries(12):
            owner.get(url("run", project, run.pk))

    def test_a_candidate_shows_what_changed_with_words_for_a_screen_reader(self, owner, project, subtest):
        run = make_run(subtest)
        caption = make_caption(make_video(project), "a <i>man</i> folds a shirt.")
        make_candidate(make_group(run, caption), "a <i>man</i> unfolds a shirt.")
        html = " ".join(owner.get(url("run", project, run.pk)).content.decode().split())
        assert '<del><span class="visually-hidden" dir="auto">removed: </span>folds</del>' in html
        assert '<ins><span class="visually-hidden" dir="auto">added: </span>unfolds</ins>' in html
        assert "<i>man" not in html

    @pytest.mark.parametrize(
        ("state", "polls"), [("waiting", True), ("running", True), ("done", False), ("failed", False)]
    )
    def test_progress_polls_only_while_the_job_is_active(self, owner, project, subtest, state, polls):
        job = Job.objects.create(dotted="x", target_id=1, state=state, done=5, total=20, error="it broke")
        run = make_run(subtest, job=job)
        page = read_page(owner.get(url("run_progress", project, run.pk)))
        assert (url("run_progress", project, run.pk) in page.actions) is polls
        # The head of the page says that a run is done; its bar would be full.
        bars = [(bar.attributes["max"], bar.attributes["value"]) for bar in page.all("progress")]
        assert (bars, "html" in page.tags) == ([] if state == "done" else [("20", "5")], False)

    @pytest.mark.parametrize(
        ("skipped", "state"), [({"no verb": 2}, "done"), ({}, "done"), ({"no verb": 2}, "running")]
    )
    def test_a_finished_run_shows_the_next_steps(self, owner, project, subtest, skipped, state):
        job = Job.objects.create(dotted="x", target_id=1, state=state)
        run = make_run(subtest, job=job, skipped=skipped)
        page = read_page(owner.get(url("run", project, run.pk)))
        assert ("Next steps" in page.text) is (state == "done")
        like = f"{url('new_run', project)}?like={run.pk}"
        offered = {f"{like}&method=person&without_foil=1", like}
        assert offered & page.links.keys() == (offered if skipped and state == "done" else set())

    def test_a_run_of_another_project_is_not_found(self, owner, project):
        foreign = make_run(make_subtest(make_project()))
        for name in ("run", "run_progress"):
            assert owner.get(url(name, project, foreign.pk)).status_code == 404


class TestCandidate:
    def test_origin_scores_family_and_history_are_shown(self, owner, project, subtest):
        group = make_group(make_run(subtest, method="number"))
        parent = make_candidate(group, "a man <b>unfolds</b> a shirt.", seed=42, facts={"ranking": "drawn"})
        rejected(parent, "minimal_edit")
        child = make_candidate(group, "a man tears a shirt.", parent=parent, author=make_member(project, name="ann"))
        AuditEvent.objects.create(
            project=project,
            action="annotation.claim",
            target_type="generation.candidate",
            target_id=str(parent.pk),
            from_state="queued",
            to_state="in_review",
        )
        page = read_page(owner.get(url("candidate", project, parent.pk)))
        page.check(
            "a man <b>unfolds", "42", "drawn", "minimal_edit", "a man tears a shirt.", "annotation.claim", "in review"
        )
        other = read_page(owner.get(url("candidate", project, child.pk)))
        other.check("ann")
        assert url("candidate", project, parent.pk) in other.links

    def test_a_candidate_of_another_project_is_not_found(self, owner, project):
        foreign = make_candidate(make_group(make_run(make_subtest(make_project()))))
        assert owner.get(url("candidate", project, foreign.pk)).status_code == 404


def test_the_methods_page_has_every_row_with_its_parameters_and_deviations(client, project):
    client.force_login(make_member(project, Role.ANNOTATOR))
    page = read_page(client.get(reverse("generation:methods")))
    for table, rows in (("methods", METHODS), ("filters", FILTERS)):
        assert {f"{table}-{slug}" for slug in rows} <= page.ids
        page.check(*(param.name for entry in rows.values() for param in entry.params))


class TestAskingAModel:
    @pytest.fixture
    def endpoints(self, settings):
        settings.CHAT_ENDPOINTS = {
            "lab": {"url": "http://127.0.0.1:9/v1", "models": ("tiny", "large"), "key": "very secret"},
        }

    def test_the_configured_endpoints_and_the_prompts_are_offered(self, owner, project, subtest, endpoints):
        answer = owner.get(url("new_run", project), {"method": "chat"})
        page, html = read_page(answer), answer.content.decode()
        assert (page.options["lab"], page.fields["method-template"]) == ("lab", "counterfactual@1")
        page.check("lab: tiny, large")
        assert [secret for secret in ("very secret", "127.0.0.1:9") if secret in html] == []

    def test_without_an_endpoint_the_page_says_who_can_configure_one(self, owner, project, subtest):
        html = owner.get(url("new_run", project), {"method": "chat"}).content.decode()
        assert "An operator can set CHAT_ENDPOINTS" in html

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "no model is chosen"),
            ({"method-endpoint": "lab", "method-model": "huge"}, "not one of its models; choose one of: tiny, large"),
            ({"method-endpoint": "http://169.254.169.254/"}, "Select a valid choice"),
            ({"method-endpoint": "lab", "method-tries": "99"}, "give a number from 1 to 10"),
        ],
    )
    def test_an_invalid_value_has_its_error_next_to_it(self, owner, project, subtest, endpoints, given, message):
        make_caption(make_video(project))
        data = form_data(subtest, method="chat", **{"method-foils": "7", **given})
        answer = owner.post(url("new_run", project), data)
        assert answer.status_code == 422
        page = read_page(answer)
        page.check(message)
        assert page.fields["method-foils"] == "7"
        assert not GenerationRun.objects.exists()

    def test_parameters_that_were_not_shown_are_shown_before_a_start(self, owner, project, subtest):
        make_caption(make_video(project), "a red circle moves")
        sent = form_data(subtest, method="actor_swap", seen="number", seed="5", filters=[*default_filters("number")])
        answer = owner.post(url("new_run", project), sent)
        assert answer.status_code == 422
        page = read_page(answer)
        page.check("Not started yet.")
        assert ("method-tagger" in page.fields, page.fields["seed"]) == (True, "5")
        # The usual filters of the one give way to those of the other.
        form = answer.context["form"]
        assert {row.slug for row in form.chosen_rows()} == {"identical", "duplicate"}
        assert owner.post(url("new_run", project), {**sent, "seen": "actor_swap"}).status_code == 302
