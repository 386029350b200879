"""The form of a new run in a real browser: no choice is lost, and a run that asks an endpoint shows what it costs."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.models import GenerationRun
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.hub.chat_server import Said, chat_server, foils

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    project = make_project(slug="shapes")
    make_subtest(project, name="Direction")
    for n in range(4):
        make_caption(make_video(project), f"a man lifts {n} boxes onto a table")
    return project


@pytest.fixture
def owner(project):
    return make_member(project, Role.RESEARCHER)


def address(project) -> str:
    return reverse("generation:new_run", args=[project.slug])


def test_a_method_chosen_before_the_scripts_are_there_is_kept(project, owner, sign_in: SignIn):
    page = sign_in(owner)
    held = []
    page.route("**/django_htmx/**", lambda route: held.append(route))
    with page.expect_request("**/django_htmx/**"):
        page.goto(address(project), wait_until="commit")
    # A hand of the tests waits for the scripts.
    page.locator("[name=method][value=chat]").dispatch_event("click")
    page.wait_for_timeout(200)
    assert held
    assert page.locator("[name=seen]").get_attribute("value") == ""
    for route in held:
        route.continue_()
    expect(page.locator("[name=method-template]")).to_be_visible()
    assert page.locator("[name=seen]").get_attribute("value") == "chat"
    expect(page.locator("[name=method][value=chat]")).to_be_checked()


def test_without_scripts_a_method_is_chosen_looked_at_and_started(project, owner, sign_in: SignIn):
    page = sign_in(owner, expected=("422",), java_script_enabled=False)
    page.goto(address(project))
    page.locator("[name=method][value=fake]").check()
    page.get_by_role("button", name="Start run").click()
    expect(page.get_by_role("alert")).to_contain_text("Deterministic word swap")
    expect(page.locator("[name=method][value=fake]")).to_be_checked()
    page.locator("[name=method-lexicon]").fill("man:woman")
    page.get_by_role("button", name="Start run").click()
    run = GenerationRun.objects.get()
    assert (run.method, run.params["lexicon"]) == ("fake", "man:woman")


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_a_run_that_asks_an_endpoint(project, owner, sign_in: SignIn, settings, monkeypatch, narrow):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)

    def answer(body, n):
        text = body["messages"][-1]["content"]
        return Said("away", 503) if "3 boxes" in text else foils("a man drops boxes off a table", "a man lifts boxes")

    page = sign_in(owner, narrow=narrow)
    with chat_server(answer) as server:
        settings.CHAT_ENDPOINTS = {
            "lab": {"url": server.url, "models": ("tiny", "large"), "price": (10.0, 20.0), "currency": "EUR"}
        }
        page.goto(f"{address(project)}?method=chat")
        page.get_by_label("Endpoint").select_option("lab")
        page.locator("[name=method-foils]").fill("2")
        assert_accessible(page)
        page.get_by_role("link", name="Read or write prompts").click()
        expect(page.get_by_role("heading", name="counterfactual@1")).to_be_visible()
        page.get_by_role("link", name=re.compile("Use as template ?: counterfactual@1")).click()
        expect(page.get_by_label("Instruction")).to_have_value(re.compile("install … to"))
        page.get_by_text("Text of the prompt: counterfactual@1").click()
        assert_accessible(page)
        page.goto(f"{address(project)}?method=chat")
        page.get_by_label("Endpoint").select_option("lab")
        page.locator("[name=method-foils]").fill("2")
        page.get_by_role("button", name="Start run").click()
        expect(page.get_by_text("The run has started")).to_be_visible()
        run_now(GenerationRun.objects.get().job)
        # The page loads itself anew: what is asked of it before would be asked of one that goes.
        expect(page.locator("#run-progress[hx-get]")).to_have_count(0)
        expect(page.get_by_role("heading", name="Cost so far")).to_be_visible()
        expect(page.get_by_role("heading", name="The model did not answer for 1 caption")).to_be_visible()
        assert_accessible(page)
        page.get_by_role("link", name="503 after 3 tries").click()
        expect(page.get_by_text("a man lifts 3 boxes onto a table")).to_be_visible()
        assert_accessible(page)
        page.go_back()
        server.answer = lambda body, n: foils("a man drops boxes", "a man paints boxes")
        page.get_by_label("Max requests").fill("50")
        page.get_by_role("button", name="Retry run").click()
        expect(page.get_by_text("The run continues")).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()


def test_the_preview_follows_what_is_chosen(project, owner, sign_in: SignIn):
    page = sign_in(owner)
    page.goto(address(project))
    methods, preview = page.get_by_role("group", name="Method"), page.locator("#run-preview")
    page.get_by_role("searchbox", name="Find a method").fill("deterministic")
    expect(methods.get_by_role("radio")).to_have_count(1)
    methods.get_by_role("radio").focus()
    page.keyboard.press("Space")
    page.get_by_label("Lexicon").fill("table")
    expect(preview).to_contain_text("'table' is not a pair")
    page.get_by_label("Lexicon").fill("table:floor")
    expect(preview.locator("ins")).to_have_count(4)
    expect(preview.locator("ins").first).to_have_text("added: floor")
    expect(page.get_by_role("status").filter(has_text="Expected: about 4 foils from 4 captions")).to_be_visible()
    page.get_by_role("button", name="Minimal").click()
    expect(page.get_by_role("button", name="Minimal")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Minimal")).to_be_focused()
    page.get_by_label("Max captions").fill("2")
    # What the texts answer comes a second later, below the foils.
    expect(preview).to_contain_text("too few videos to learn from")
    expect(preview.locator("ins")).to_have_count(2)
    assert_accessible(page)
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = GenerationRun.objects.get()
    assert (run.selection["limit"], {row["slug"] for row in run.filters}) == (2, {"identical", "duplicate"})
