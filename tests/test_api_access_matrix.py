"""Every operation of the API x every kind of person x every scope of a token, against one table.

The document of the API is the list: an operation that has no row here fails. Without a good token it is 401; a project
does not exist (404) for who is no member of it; a member without the role, or a token without the scope, is refused
(403); ids of another project, and other people's work, do not exist (404).
"""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import timezone

from foilworks.core.jobs.models import Job
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.actions.webhooks import add_webhook
from foilworks.core.projects.models import ApiToken, CrowdPlace, User
from foilworks.site.api.api import api
from tests.factories import make_caption, make_item, make_subtest, make_video
from tests.test_access_matrix import World, make_world

pytestmark = pytest.mark.django_db

MEMBERS = ("annotator", "reviewer", "validator", "researcher", "superuser")
SIGNED_IN = ("stranger", *MEMBERS)
EVERYBODY = ("anonymous", *SIGNED_IN)
OWNERS = ("researcher", "superuser")
DECIDERS = ("reviewer", *OWNERS)
READ, WORK, MANAGE = ApiToken.Scope.READ, ApiToken.Scope.WORK, ApiToken.Scope.MANAGE
CSV = b"id,video,caption,foil\na,a.mp4,a man sits.,a man stands.\n"
OPEN = b"id,prediction,right\na,two,2\n"
# Of documentation: nobody is there, and nothing is sent in a test whose jobs do not run.
HOOK = "https://93.184.216.34/hook"


@dataclass(frozen=True)
class Rule:
    """`ok`: what those in `may` are answered; `pk`, `token`: names of the world's values; `data`: what is sent.

    `also`, `query`: further parameters by the names of their values; values of `data` may be such names, too.
    """

    may: tuple[str, ...] = OWNERS
    ok: int = 200
    pk: str = ""
    token: str = ""
    data: dict[str, Any] | None = None
    form: bool = False
    scope: str = ""
    stranger: int = 404
    refused: int = 403
    more: dict[str, Any] = field(default_factory=dict)
    also: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


def own_work(**fields: Any) -> Rule:
    return Rule(("annotator",), token="edit_token", stranger=404, refused=404, **fields)


def own_exercise(**fields: Any) -> Rule:
    return Rule(("validator",), refused=404, **fields)


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


RULES: dict[str, Rule] = {
    "me": Rule(SIGNED_IN),
    "list_projects": Rule(SIGNED_IN),
    "create_project": Rule(ok=201, data={"name": "Another", "slug": "another"}, stranger=403),
    "read_project": Rule(MEMBERS),
    "list_members": Rule(),
    "create_member": Rule(ok=201, data={"username": "newcomer", "roles": ["annotator"], "new_account": True}),
    "create_members": Rule(
        ok=201, data={"members": [{"username": "bot", "roles": ["annotator"], "new_account": True}]}
    ),
    "read_member": Rule(pk="member"),
    "change_roles": Rule(pk="member", data={"roles": ["annotator", "validator"]}),
    "remove_member": Rule(pk="member", ok=204),
    "list_subtests": Rule(),
    "create_subtest": Rule(ok=201, data={"name": "direction"}),
    "list_imports": Rule(),
    "create_import": Rule(ok=202, form=True, data={"format": "csv", "records": ("a.csv", CSV)}),
    "read_import": Rule(pk="import"),
    "confirm_import": Rule(ok=202, pk="import"),
    "discard_import": Rule(ok=204, pk="import"),
    "list_items": Rule(),
    "read_item": Rule(pk="item"),
    "move_item": Rule(pk="item", data={"move": "retract", "reason": "the clip was cut in two"}),
    "list_queues": Rule(MEMBERS),
    "claim": Rule(("annotator", "superuser"), scope=WORK, more={"stage": "edit"}, data={}),
    "list_votes": Rule(),
    "review_candidates": Rule(
        ("reviewer", "superuser"), scope=WORK, data={"reviews": [{"candidate": 1, "decision": "accept"}]}
    ),
    "export_votes": Rule(),
    "list_runs": Rule(),
    "start_benchmark": Rule(ok=202, data={"benchmark": "temporal"}),
    "start_run": Rule(ok=202, data={"subtest": "subtest", "method": "fake"}),
    "read_run": Rule(pk="generation_run"),
    "list_candidates": Rule(pk="generation_run"),
    "list_tunings": Rule(),
    "start_tuning": Rule(ok=202, data={"params": {"model": "fake-t5:"}}),
    "read_tuning": Rule(pk="tuning"),
    "read_choices": Rule(),
    "preview_choices": Rule(data={"subtest": "subtest", "random": "random items"}),
    "compose_choices": Rule(ok=202, data={"subtest": "subtest", "random": "random items"}),
    "list_reports": Rule(),
    "read_report": Rule(more={"kind": "reviewing"}),
    # The world is small: its pages compute this report themselves.
    "compute_report": Rule(ok=400, more={"kind": "reviewing"}, data={}),
    "list_releases": Rule(),
    # The world's content is frozen already: the same release is the answer.
    "create_release": Rule(ok=201, data={}),
    "read_freeze": Rule(ok=404),
    "read_release": Rule(pk="release"),
    "read_export": Rule(ok=404, pk="release", more={"export": 1}),
    "read_export_file": Rule(ok=404, pk="release", more={"export": 1}),
    "list_release_items": Rule(pk="release"),
    "export_release": Rule(pk="release", more={"exporter": "jsonl"}, data={}),
    "list_webhooks": Rule(),
    "create_webhook": Rule(ok=201, data={"url": HOOK + "/2", "events": ["release.frozen"]}),
    "ping_webhook": Rule(ok=202, pk="webhook"),
    "rotate_webhook": Rule(pk="webhook", data={}),
    "delete_webhook": Rule(ok=204, pk="webhook"),
    "list_deliveries": Rule(pk="webhook"),
    "list_scoring": Rule(),
    "start_scoring": Rule(ok=202, pk="release", data={"spec": "fake:"}),
    "bring_scores": Rule(ok=202, pk="release", form=True, data={"scores": ("s.jsonl", b"{}\n")}),
    "read_scoring": Rule(pk="scoring_run"),
    "read_open_answers": Rule(pk="release"),
    "bring_open_answers": Rule(ok=202, pk="release", form=True, data={"answers": ("a.csv", OPEN)}),
    "read_rung_costs": Rule(pk="release", query={"spec": "fake:"}),
    "read_ladder": Rule(pk="scoring_run"),
    "list_scores": Rule(pk="scoring_run"),
    "read_media": Rule(pk="video"),
    "read_clip": Rule(("annotator",), token="clip_token", refused=404),
    "read_frame": Rule(MEMBERS, pk="frame"),
    "read_work": own_work(),
    "heartbeat": own_work(scope=WORK, data={}),
    "skip": own_work(scope=WORK, ok=204),
    "submit": own_work(scope=WORK, ok=201, data={"texts": ["a man unrolls a shirt."]}),
    # --- read-outs, jobs, methods, settings, people: each a row of the pages' forms and actions
    "decline": own_work(scope=WORK, ok=204, data={}),
    "save_draft": own_work(scope=WORK, data={"draft": '{"base": "", "values": {}}'}),
    # The annotator's edit of the world below fills no slot, so it cannot be undone.
    "undo": Rule(("annotator",), ok=404, pk="edit", more={"kind": "edit"}, data={}, scope=WORK, refused=404),
    "map_import": Rule(ok=400, pk="import", data={"mapping": {}}),
    "undo_import": Rule(ok=400, pk="import", data={}),
    # It has not stopped, and no delivery of it has failed.
    "restart_webhook": Rule(ok=400, pk="webhook", data={}),
    "retry_delivery": Rule(ok=404, pk="webhook", also={"delivery": "delivery"}, data={}),
    "read_film_strip": Rule(pk="video"),
    "preview_release": Rule(),
    "check_release": Rule(ok=202, data={}),
    "read_board": Rule(pk="release"),
    # There is one run.
    "compare_runs": Rule(ok=400, pk="release", query={"a": "scoring_run", "b": "scoring_run"}),
    "read_release_ladder": Rule(pk="release"),
    "list_analyses": Rule(pk="release"),
    "read_analysis": Rule(ok=400, pk="release", more={"kind": "delta"}),
    "read_gate": Rule(pk="release"),
    "read_changes": Rule(ok=404, pk="release"),
    "list_proximity": Rule(pk="release"),
    "measure_proximity": Rule(ok=422, pk="release", data={"model": "no/such model"}),
    "add_controls": Rule(ok=400, pk="scoring_run", data={}),
    "bring_rung_scores": Rule(
        ok=400, pk="scoring_run", form=True, data={"rung": "no_clip", "scores": ("s.jsonl", b"{}")}
    ),
    "read_model_card": Rule(pk="scoring_run"),
    # The run has not loaded its model yet.
    "change_model_card": Rule(ok=400, pk="scoring_run", data={"size": "7B"}),
    "list_answers": Rule(pk="scoring_run"),
    "read_answer_sample": Rule(pk="open_set"),
    # No answer of the set.
    "judge_answer_sample": Rule(ok=400, pk="open_set", data={"verdicts": {"1": True}}),
    "score_texts": Rule(ok=400, data={"spec": "nothing:"}),
    "list_jobs": Rule(),
    "read_job": Rule(also={"job": "job"}),
    "stop_job": Rule(also={"job": "job"}, data={}),
    "retry_job": Rule(ok=400, also={"job": "job"}, data={}),
    "propose_pairs": Rule(ok=202, data={"kind": "natural", "subtest": "subtest"}),
    "extract_objects": Rule(ok=202, data={}),
    "preview_run": Rule(ok=400, data={"subtest": "subtest", "method": "nothing"}),
    "list_skipped": Rule(pk="generation_run"),
    "read_thresholds": Rule(pk="generation_run"),
    "move_thresholds": Rule(ok=400, pk="generation_run", data={"thresholds": {}}),
    "read_candidate": Rule(pk="candidate"),
    "list_prompts": Rule(),
    "write_prompt": Rule(ok=201, data={"slug": "own", "question": "Change {caption} into {k} foils."}),
    "list_built_in_prompts": Rule(),
    "list_selections": Rule(),
    "start_selection": Rule(ok=202, data={"kind": "balance", "subtest": "subtest"}),
    "read_selection": Rule(pk="selection"),
    "apply_selection": Rule(ok=400, pk="selection", data={}),
    "list_caption_runs": Rule(),
    "preview_captions": Rule(ok=202, data={"maker": "cos_caption", "params": {}}),
    "read_caption_run": Rule(pk="caption_run"),
    "make_captions": Rule(ok=202, pk="caption_run", data={}),
    "list_videos": Rule(),
    "read_video": Rule(pk="video"),
    "set_warning": Rule(pk="video", data={"warning": "blood"}),
    "take_down": Rule(pk="video", data={"reason": "its owner asked"}),
    "list_movies": Rule(),
    "set_characters": Rule(ok=422, data={"text": ""}),
    "list_captions": Rule(),
    "read_caption": Rule(pk="doubted"),
    "list_doubted_captions": Rule(),
    "decide_caption": Rule(pk="doubted", data={"decision": "confirm", "reason": "it is true"}),
    "read_history": Rule(pk="item"),
    "move_items": Rule(data={"move": "retract", "items": ["item"], "reason": "cut in two"}),
    "list_disputed": Rule(DECIDERS),
    "read_disputed": Rule(DECIDERS, pk="disputed"),
    "decide_disputed": Rule(DECIDERS, pk="disputed", data={"decision": "valid", "comment": "both saw it"}),
    "undo_decisions": Rule(DECIDERS, data={"items": ["item"]}),
    "list_comments": Rule(DECIDERS, pk="item"),
    "add_comment": Rule(DECIDERS, ok=201, pk="item", data={"text": "a man sits"}),
    "resolve_comment": Rule(DECIDERS, pk="item", also={"comment": "comment"}, data={}),
    "repair_item": Rule(ok=404, data={}),
    "list_invitations": Rule(),
    "create_invitation": Rule(ok=201, data={"roles": ["annotator"]}),
    "invite_team": Rule(ok=201, data={"validator": 2}),
    "withdraw_invitation": Rule(ok=204, pk="invitation"),
    "list_assignments": Rule(),
    "assign": Rule(ok=201, data={"stage": "validation", "people": ["the validator"], "quota": 5}),
    "end_assignment": Rule(ok=404, pk="member"),
    "read_activity": Rule(),
    "renew_password": Rule(ok=400, pk="member", data={}),
    "list_consent_texts": Rule(),
    "publish_consent_text": Rule(ok=201, data={"text": "We store your answers."}),
    "list_studies": Rule(),
    "open_study": Rule(ok=400, data={"name": "t", "stage": "edit", "pieces": 1, "places": 1, "platform": "signed"}),
    "read_study": Rule(pk="crowd_study"),
    "list_places": Rule(pk="crowd_study"),
    "read_platform_list": Rule(pk="crowd_study", more={"name": "approve"}),
    "close_study": Rule(pk="crowd_study", data={}),
    "reopen_study": Rule(pk="crowd_study", data={}),
    "free_late_places": Rule(pk="crowd_study", data={}),
    "free_place": Rule(pk="crowd_study", data={"place": "place"}),
    "reject_place": Rule(ok=400, pk="crowd_study", data={"place": "place"}),
    "make_return_link": Rule(ok=200, pk="crowd_study", data={"place": "place"}),
    "check_code": Rule(ok=403, pk="crowd_study", data={"code": "nobody"}),
    "list_validators": Rule(),
    "pause_validator": Rule(pk="member", data={}),
    "resume_validator": Rule(ok=400, pk="member", data={}),
    "exclude_votes": Rule(pk="member", data={}),
    "reinstate_votes": Rule(pk="member", data={}),
    "list_gold": Rule(),
    "add_gold": Rule(ok=422, more={"use": "mixed"}, data={"subtest": 1}),
    "withdraw_gold": Rule(ok=204, pk="pair", more={"kind": "pair"}),
    "list_practice": Rule(),
    "add_practice": Rule(ok=422, data={"key": "nothing", "examples": "a"}),
    "read_quality": Rule(),
    "read_label": Rule(),
    "label_pair": Rule(data={"pair": "pair", "answer": "first"}),
    "list_guidelines": Rule(),
    "preview_guideline": Rule(data={"text": "# Look"}),
    "publish_guideline": Rule(ok=201, more={"stage": "objects"}, data={"text": "Look.", "begun": 1}),
    "open_choices": Rule(ok=201, more={"stage": "unseen"}, data={}),
    "list_object_checks": Rule(),
    "open_object_check": Rule(ok=422, data={"source": "nothing"}),
    "classify_object": Rule(ok=400, data={"frame": "frame", "object_index": 0, "error_class": "other"}),
    "read_settings": Rule(),
    "change_settings": Rule(data={"about": {"description": "new"}, "rules": {"undo_seconds": 20}}),
    "read_sources": Rule(),
    "change_sources": Rule(data={"sources": {"": {"licence": "MIT"}}}),
    "read_datasheet": Rule(),
    "change_datasheet": Rule(data={"answers": {}}),
    "change_vote_rule": Rule(ok=400, pk="subtest", data={"votes_wanted": 5}),
    "collect_votes": Rule(ok=400, pk="subtest", data={}),
    "archive_project": Rule(data={}),
    "delete_project": Rule(ok=400, data={"typed_name": "another name"}),
    "restore_project": Rule(ok=404, data={}, refused=404),
    "read_public_page": Rule(pk="release"),
    "change_public_page": Rule(pk="release", data={"is_open": False}),
    "renew_address": Rule(pk="release", data={}),
    "renew_archive": Rule(ok=202, pk="release", data={}),
    "list_submissions": Rule(pk="release"),
    "decide_submission": Rule(
        pk="release", also={"submission": "submission"}, data={"move": "reject", "reason": "no such model"}
    ),
    "list_item_reports": Rule(pk="release"),
    "decide_item_reports": Rule(ok=400, pk="release", data={"move": "dismiss", "members": ["item"]}),
    "read_folder": Rule(pk="release"),
    "write_folder": Rule(ok=202, pk="release", data={"reason": "a draft for a workshop"}),
    "read_folder_file": Rule(ok=404, pk="release"),
    "list_descriptions": Rule(),
    "describe_videos": Rule(ok=202, data={}),
    "import_descriptions": Rule(ok=400, form=True, data={"file": ("d.json", b"{}")}),
    "read_descriptions": Rule(pk="descriptions"),
    "list_biases": Rule(),
    "measure_bias": Rule(ok=400, data={"descriptions": "descriptions"}),
    "import_splits": Rule(ok=400, form=True, data={"file": ("s.json", b"{}")}),
    "read_bias": Rule(pk="bias_run"),
    "list_bias_models": Rule(pk="bias_run"),
    "import_answers": Rule(ok=400, pk="bias_run", form=True, data={"file": ("a.csv", b"sample\n")}),
    "predict_samples": Rule(ok=400, pk="bias_run", data={"model": "fake:"}),
    "read_shortcuts": Rule(),
    "check_shortcuts": Rule(ok=400, data={"descriptions": "descriptions"}),
    "list_trainings": Rule(),
    "start_training": Rule(ok=422, data={"student": "nothing"}),
    "read_training": Rule(pk="teacher_training"),
    "evaluate_training": Rule(ok=400, pk="teacher_training", data={"release": "release"}),
    "read_reading": Rule(pk="teacher_training", also={"release": "release"}),
    "compare_trainings": Rule(pk="release"),
    "start_exercise": Rule(("annotator", "superuser"), ok=400, data={"stage": "practice", "of_stage": "edit"}),
    "read_exercise": own_exercise(pk="attempt"),
    "read_question": own_exercise(pk="attempt", more={"place": 0}),
    "answer_question": own_exercise(pk="attempt", more={"place": 0}, data={"answer": "first"}),
    "read_overview": Rule(),
    "compute_plan": Rule(data={}),
    "list_events": Rule(),
    "read_consent": Rule(MEMBERS),
    "give_consent": Rule(MEMBERS, ok=400, data={"version": 1, "agree": True}),
    "leave_project": Rule(MEMBERS, ok=422, data={"work": "keep"}),
    "read_own_figures": Rule(MEMBERS),
    "read_place": Rule(("annotator",), refused=404),
    "move_place": Rule(("annotator",), data={"move": "return"}, refused=404),
    "read_account": Rule(SIGNED_IN),
    "read_own_data": Rule(SIGNED_IN),
    "list_tokens": Rule(SIGNED_IN),
    "revoke_token": Rule(("annotator",), ok=204, pk="api_token", refused=404),
    "list_notifications": Rule(SIGNED_IN),
    "read_notifications": Rule(SIGNED_IN, data={}),
    "read_notification_settings": Rule(SIGNED_IN),
    "change_notification_settings": Rule(SIGNED_IN, data={"mail": "off"}),
    # A signature of nobody's.
    "accept_invitation": Rule(SIGNED_IN, ok=403, data={"token": "none"}),
    "list_methods": Rule(SIGNED_IN),
    "read_method": Rule(SIGNED_IN, more={"table": "filters", "entry": "identical"}),
    "send_scores": Rule(SIGNED_IN, ok=422, also={"key": "public_key"}, form=True, data={"scores": ("s.jsonl", b"")}),
    "report_item": Rule(SIGNED_IN, ok=422, also={"key": "public_key"}, data={"item": "nothing"}),
    "audit_file": Rule(SIGNED_IN, ok=422, form=True, data={"file": ("a.csv", b"")}),
}


# Values of the world that bodies name.
NAMED = frozenset({"subtest", "item", "member", "pair", "place", "frame", "descriptions", "release", "the validator"})
# Ordinarily, for each operation, the first who may and a stranger; everybody in the full tests.
EVERY = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.full)], ids=["some", "every"])
CLIENT = Client()
# operation -> (method, path); its name is that of its function.
OPERATIONS: dict[str, tuple[str, str]] = {}
for _path, _methods in api.get_openapi_schema()["paths"].items():
    for _method, _about in _methods.items():
        OPERATIONS[_about["summary"].lower().replace(" ", "_")] = (_method.upper(), _path)


@pytest.fixture
def worlds(settings) -> tuple[World, World]:
    """Two projects. Making them is what takes the time: a test tries all operations on one pair of them."""
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    return make_api_world(), make_api_world()


def make_api_world() -> World:
    world = make_world()
    hook = add_webhook(world.people["researcher"], _project(world), HOOK, ["release.frozen"])
    world.values["webhook"] = hook.pk
    project = _project(world)
    caption = make_caption(make_video(project, split="train"), "A man rests.")
    make_item(make_subtest(project, name="random items"), caption, ("A dog barks.",), key="random")
    job = Job.objects.filter(project_id=project.pk, dotted="scoring.run").get()
    place = CrowdPlace.objects.get(study=world.values["crowd_study"])
    world.values |= {"job": str(job.pk), "place": place.pk, "the validator": world.people["validator"].pk}
    return world


def _project(world: World) -> Any:
    return world.people["researcher"].memberships.get().project


def headers_of(person: User | None, scope: str = MANAGE, **narrowed: Any) -> dict[str, str]:
    if person is None:
        return {}
    return {"Authorization": f"Bearer {make_token(person, name='test', scope=scope, **narrowed).secret}"}


def address(name: str, world: World, foreign: World | None = None) -> str:
    rule, values = RULES[name], (foreign or world).values
    named = {"slug": world.slug, **rule.more}
    if rule.pk:
        named["pk"] = values[rule.pk]
    if rule.token:
        named["token"] = values[rule.token]
    named |= {parameter: values[value] for parameter, value in rule.also.items()}
    query = urlencode({parameter: values.get(value, value) for parameter, value in rule.query.items()})
    return OPERATIONS[name][1].format(**named) + (f"?{query}" if query else "")


def body_of(rule: Rule, world: World) -> dict[str, Any]:
    data = dict(rule.data or {})
    if rule.form:
        return {"data": {k: file(*v) if isinstance(v, tuple) else v for k, v in data.items()}}
    data = {key: _value(value, world) for key, value in data.items()}
    return {"data": json.dumps(data), "content_type": "application/json"}


def _value(value: Any, world: World) -> Any:
    if isinstance(value, list):
        return [_value(one, world) for one in value]
    return world.values[value] if isinstance(value, str) and value in NAMED else value


def ask(name: str, world: World, headers: dict[str, str], foreign: World | None = None) -> Any:
    """The answer, whatever it wrote taken back."""
    method, _path = OPERATIONS[name]
    sent = body_of(RULES[name], world) if method in {"POST", "PATCH"} else {}
    with transaction.atomic():
        response = getattr(CLIENT, method.lower())(address(name, world, foreign), headers=headers, **sent)
        if response.streaming:
            # Read to its end, so that no file stays open.
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    return response


def expected(name: str, person: str) -> int:
    rule = RULES[name]
    if person == "anonymous":
        return 401
    if name == "claim" and person == "superuser":
        # Nothing is left: the one piece is in the annotator's hands.
        return 204
    if person in rule.may:
        return rule.ok
    return rule.stranger if person == "stranger" else rule.refused


def test_every_operation_has_a_rule_and_every_rule_an_operation():
    assert set(OPERATIONS) == set(RULES)


@EVERY
def test_who_is_answered_what(worlds, every):
    world, _other = worlds
    headers = {person: headers_of(world.people[person]) for person in EVERYBODY}
    wrong, wordless, told = {}, [], []
    for name, rule in RULES.items():
        for person in EVERYBODY if every else {"stranger", next(person for person in SIGNED_IN if person in rule.may)}:
            answer = ask(name, world, headers[person])
            if answer.status_code != expected(name, person):
                wrong[name, person] = (answer.status_code, answer.content[:200])
            if answer.status_code >= 400 and not answer.json().get("detail"):
                wordless.append((name, person))
            told += [(name, person, word) for word in hidden_from(person, world, answer) if word in said(answer)]
    assert not wrong
    assert not wordless
    assert not told


def hidden_from(person: str, world: World, answer: Any) -> tuple[str, ...]:
    """Names that the person may not know: outside the project all of them; a member who is refused knows the project
    and no more; whoever judges never learns which video it is."""
    if person in ("anonymous", "stranger"):
        return world.names
    if answer.status_code in (403, 404):
        return world.names[1:]
    return world.names[2:3] if person == "validator" else ()


def said(answer: Any) -> str:
    return "" if answer.streaming else json.dumps(answer.json(), ensure_ascii=False) if answer.content else ""


@EVERY
def test_a_token_does_what_its_scope_says(worlds, every):
    world, _other = worlds
    order, wrong = [READ, WORK, MANAGE], {}
    headers = {
        (p, scope): headers_of(world.people[p], scope)
        for p in ("annotator", "validator", "superuser")
        for scope in order
    }
    for name, rule in RULES.items():
        person = "superuser" if "superuser" in rule.may and name != "claim" else rule.may[0]
        needed = rule.scope or (READ if OPERATIONS[name][0] == "GET" else MANAGE)
        # The scope just below refuses early: with others, the operation runs.
        lower = order[max(0, order.index(needed) - 1)]
        for scope in order if every or rule.scope else [lower] if lower != needed else []:
            right = rule.ok if order.index(scope) >= order.index(needed) else 403
            status = ask(name, world, headers[person, scope]).status_code
            if status != right:
                wrong[name, scope] = status
    assert not wrong


@EVERY
def test_rows_of_another_project_are_not_there(worlds, every):
    """Somebody of both projects, too, finds a row only under its own project."""
    world, other = worlds
    people = (world.people["researcher"], other.people["researcher"], world.people["superuser"])
    found = {
        (name, person.username): ask(name, world, headers, foreign=other)
        for person in (people if every else people[2:])
        for headers in [headers_of(person)]
        for name in RULES
        if RULES[name].pk
    }
    assert {name: answer.status_code for name, answer in found.items() if answer.status_code != 404} == {}
    names = {*world.names[1:], *other.names}
    assert {name: word for name, answer in found.items() for word in names if word in said(answer)} == {}


@EVERY
def test_a_token_of_another_project_or_role_reaches_nothing_here(worlds, every):
    world, other = worlds
    person = world.people["superuser"]
    elsewhere, lesser = headers_of(person, project=_project(other)), headers_of(person, role="annotator")
    here = headers_of(person, project=_project(world), role="researcher")
    wrong = {}
    for name, rule in RULES.items():
        if "slug" not in OPERATIONS[name][1]:
            continue
        wanted = [
            (elsewhere, 404),
            *([(lesser, rule.refused), (here, rule.ok)] if every and rule.may == OWNERS else []),
        ]
        for headers, right in wanted:
            status = ask(name, world, headers).status_code
            if status != right:
                wrong[name, right] = status
    assert not wrong


def test_revoked_spent_and_made_up_tokens_open_nothing(worlds):
    world, _other = worlds
    person = world.people["researcher"]
    made = make_token(person, name="short", scope=MANAGE)
    good, row = {"Authorization": f"Bearer {made.secret}"}, ApiToken.objects.filter(pk=made.token.pk)
    assert ask("read_project", world, good).status_code == 200
    row.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ask("read_project", world, good).status_code == 401
    row.update(expires_at=timezone.now() + timedelta(days=1), revoked_at=timezone.now())
    assert ask("read_project", world, good).status_code == 401
    for wrong in ("Bearer fw_", "Bearer fw_" + "x" * 43, "Bearer " + "x" * 200, "Basic YTpi", "fw_x", "Bearer é"):
        assert ask("read_project", world, {"Authorization": wrong}).status_code == 401


def test_a_closed_account_and_a_session_reach_nothing(worlds):
    world, _other = worlds
    headers = headers_of(world.people["reviewer"])
    User.objects.filter(pk=world.people["reviewer"].pk).update(is_active=False)
    assert ask("read_project", world, headers).status_code == 401
    User.objects.filter(pk=world.people["reviewer"].pk).update(is_active=True)
    client = Client()
    client.force_login(world.people["superuser"])
    assert client.get(address("read_project", world)).status_code == 401
