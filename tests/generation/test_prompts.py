"""A project's own prompts: written, versioned, named by runs, never changed."""

import pytest
from django.urls import reverse

from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from generation.actions.runs import start_run
from generation.actions.write_prompt import write_prompt
from generation.errors import GenerationError
from generation.models import Candidate, PromptTemplate
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
WORDS = {"system": "Write falsehoods.", "question": "Caption: {caption}\nNumber: {k}", "examples": [("a", ("b", "c"))]}


def test_a_run_takes_the_projects_own_prompt_and_its_candidates_name_it(project, owner):
    row = write_prompt(owner, project, slug="mine", **WORDS)
    make_caption(make_video(project), "a man folds a shirt")
    params = {"model": "fake-chat:", "template": "mine@1", "foils": 1}
    run = start_run(
        owner, project, FoilRequest(subtest=make_subtest(project), method="chat", params=params, filters={})
    )
    run_now(run.job)
    made = Candidate.objects.get(group__run=run)
    assert (made.prompt_template, made.prompt_hash) == ("mine@1", row.sha256)
    assert AuditEvent.objects.get(action="generation.write_prompt").details["prompt"] == "mine@1"
    other = make_project()
    make_caption(make_video(other))
    with pytest.raises(GenerationError, match="there is no prompt 'mine@1'"):
        start_run(None, other, FoilRequest(subtest=make_subtest(other), method="chat", params=params))


def test_a_changed_text_is_a_new_version_and_an_unchanged_one_is_refused(project, owner):
    write_prompt(owner, project, slug="mine", **WORDS)
    second = write_prompt(owner, project, slug="mine", **{**WORDS, "system": "Write other falsehoods."})
    assert (str(second), PromptTemplate.objects.count()) == ("mine@2", 2)
    with pytest.raises(GenerationError, match="unchanged since version 2"):
        write_prompt(owner, project, slug="mine", **{**WORDS, "system": "Write other falsehoods."})
    assert PromptTemplate.objects.get(version=1).system == "Write falsehoods."


def test_names_of_built_in_prompts_and_prompts_without_caption_are_refused(project, owner):
    with pytest.raises(GenerationError, match="is built in"):
        write_prompt(owner, project, slug="counterfactual", **WORDS)
    with pytest.raises(GenerationError, match=r"\{caption\} is missing"):
        write_prompt(owner, project, slug="mine", **{**WORDS, "question": "well?"})
    assert not PromptTemplate.objects.exists()


def test_only_researchers_write_prompts(project):
    for role in (Role.ANNOTATOR, Role.VALIDATOR):
        with pytest.raises(AccessDenied):
            write_prompt(make_member(project, role), project, slug="mine", **WORDS)


class TestPage:
    def url(self, project):
        return reverse("generation:prompts", args=[project.slug])

    def test_a_version_starts_from_another_and_is_offered_to_runs(self, client, project, owner):
        client.force_login(owner)
        html = client.get(self.url(project), {"from": "counterfactual@1"}).content.decode()
        assert "a man installs a wheel to a bicycle in a workshop\na man uninstalls" in html.replace("\r\n", "\n")
        sent = {"slug": "ours", "system": "<b>Be false.</b>", "question": "{caption}"}
        sent["examples"] = "a man\r\na dog\r\n\r\nx\ny"
        assert client.post(self.url(project), sent).status_code == 302
        row = PromptTemplate.objects.get()
        assert row.examples == [["a man", ["a dog"]], ["x", ["y"]]]
        html = client.get(self.url(project)).content.decode()
        assert "ours@1" in html
        assert "<b>Be false" not in html
        make_subtest(project)
        form = client.get(reverse("generation:new_run", args=[project.slug]), {"method": "chat"}).content.decode()
        assert form.index("ours@1") < form.index("counterfactual@1")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"examples": "a caption alone"}, "has no foil below it"),
            ({"question": "no place"}, "{caption} is missing"),
            ({"slug": "counterfactual"}, "is built in"),
            ({"slug": "Mine!"}, "valid"),
        ],
    )
    def test_errors_are_shown_and_no_input_is_lost(self, client, project, owner, change, message):
        client.force_login(owner)
        sent = {"slug": "ours", "system": "many words", "question": "{caption}", "examples": "", **change}
        answer = client.post(self.url(project), sent)
        assert answer.status_code == 422
        html = answer.content.decode()
        assert message in html
        assert "many words" in html
        assert not PromptTemplate.objects.exists()

    def test_the_page_needs_the_same_queries_for_any_number_of_prompts(
        self, client, project, owner, django_assert_num_queries
    ):
        client.force_login(owner)
        for n in range(6):
            write_prompt(owner, project, slug="mine", **{**WORDS, "system": f"words {n}"})
        # Session, person, project, roles, prompts with their authors.
        with django_assert_num_queries(5):
            client.get(self.url(project))
