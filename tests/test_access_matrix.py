"""Every URL x every method x every kind of person, against one table. A URL that has no row here fails.

Anonymous people are sent to sign in; a project does not exist (404) for who is no member of it; a member without the
role is refused (403); ids of another project, and other people's work, do not exist (404).
"""

import copy
import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotation.models import (
    Attempt,
    CheckedFrame,
    Edit,
    GoldPair,
    ItemComment,
    Lease,
    ObjectCheck,
    Question,
    SlotState,
    Stage,
    Task,
)
from evaluation.open_answers.models import OpenAnswerSet
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from evaluation.utd.models import BiasRun, Descriptions
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.corpus.video_files.player import Piece, clip_token
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import (
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    Delivery,
    Invitation,
    Notification,
    Project,
    Role,
    SavedView,
    User,
    Webhook,
)
from foilworks.core.projects.notifications.mail import token_of as token_of_mail
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import strip_path
from foilworks.site.publishing.models import PublicPage, Submission
from foilworks.site.teacher.models import StudentEvaluation, TeacherPoint, TeacherTraining
from generation.models import Selection
from generation.models.side_work import CaptionRun, Tuning
from tests.clients import quick_client
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_task,
    make_user,
    make_video,
)
from tests.rows import for_each

pytestmark = pytest.mark.django_db

MEMBERS = ("annotator", "reviewer", "validator", "researcher", "superuser")
SIGNED_IN = ("stranger", *MEMBERS)
EVERYBODY = ("anonymous", *SIGNED_IN)
OWNERS = ("researcher", "superuser")
NO = 405

SIGN_IN, NOT_THERE, REFUSED = 302, 404, 403


@dataclass(frozen=True)
class Rule:
    """`get`, `post`: what those in `may` are answered (405 where the URL has no such method).

    `args`: names of the world's values after the project's slug; `instead`: people who are answered otherwise;
    `stranger`: what somebody outside the project gets; `slug` False where the URL has no project.
    """

    may: tuple[str, ...]
    get: int = 200
    post: int = NO
    args: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    instead: dict[str, int] = field(default_factory=dict)
    instead_of_post: dict[str, int] = field(default_factory=dict)
    stranger: int = NOT_THERE
    slug: bool = True

    def expected(self, person: str, method: str) -> int:
        answer = self.get if method == "GET" else self.post
        if method == "POST" and person in self.instead_of_post:
            return self.instead_of_post[person]
        if person == "anonymous":
            return answer if "anonymous" in self.may else SIGN_IN
        if answer == NO:
            return NO
        if person in self.instead:
            return self.instead[person]
        if person in self.may:
            return answer
        return self.stranger if person == "stranger" else REFUSED


def owner_page(*args: str, **fields: Any) -> Rule:
    return Rule(OWNERS, args=args, **fields)


def own_work(person: str, token: str) -> Rule:
    """A piece in somebody's hands: not even a site administrator opens it."""
    return Rule((person,), get=200, post=400, args=(token,), instead={"superuser": NOT_THERE})


def own_lease(**fields: Any) -> Rule:
    """What a page sends about its lease; any member may ask, but has only their own."""
    others = {person: NOT_THERE for person in MEMBERS if person != "annotator"}
    return Rule(("annotator",), get=NO, instead=others, **fields)


def own_exercise(*args: str, **fields: Any) -> Rule:
    """Practice and the qualification are the person's own."""
    others = {person: NOT_THERE for person in MEMBERS if person != "validator"}
    return Rule(("validator",), args=("attempt", *args), instead=others, **fields)


RULES: dict[str, Rule] = {
    # A stranger reads there what this is for.
    "home": Rule(EVERYBODY, slug=False),
    "healthz": Rule(EVERYBODY, slug=False),
    # No queue runs in the world below.
    "readyz": Rule(EVERYBODY, get=503, slug=False),
    # Nobody has the token, nor comes from a network that may read them.
    "metrics": Rule(EVERYBODY, get=404, slug=False),
    # Who is signed in already is sent home.
    "projects:sign_in": Rule(EVERYBODY, post=200, slug=False, instead=dict.fromkeys(SIGNED_IN, 302)),
    "projects:sign_out": Rule(SIGNED_IN, get=NO, post=302, slug=False),
    "projects:password": Rule(SIGNED_IN, post=422, slug=False),
    "projects:tokens": Rule(SIGNED_IN, post=422, slug=False),
    "projects:revoke_token": Rule(
        ("annotator",),
        get=NO,
        post=302,
        args=("api_token",),
        slug=False,
        instead={person: NOT_THERE for person in SIGNED_IN if person != "annotator"},
    ),
    "help": Rule(EVERYBODY, slug=False),
    "help_page": Rule(EVERYBODY, slug=False, args=("help_name",)),
    "api_docs": Rule(EVERYBODY, slug=False),
    "design": Rule(SIGNED_IN, slug=False),
    "administration": Rule(("superuser",), slug=False, stranger=REFUSED),
    "search": Rule(MEMBERS),
    "api_unknown": Rule(EVERYBODY, get=404, post=404, slug=False),
    "projects:create": Rule(OWNERS, post=422, slug=False, stranger=REFUSED),
    "projects:sign_in_code": Rule(EVERYBODY, get=302, post=302, slug=False),
    "projects:sign_in_with_code": Rule(EVERYBODY, post=200, slug=False, instead=dict.fromkeys(SIGNED_IN, 302)),
    "projects:account": Rule(SIGNED_IN, post=302, slug=False),
    "projects:notifications": Rule(SIGNED_IN, slug=False),
    "projects:notification": Rule(
        ("annotator",),
        get=302,
        args=("notification",),
        slug=False,
        instead={person: NOT_THERE for person in SIGNED_IN if person != "annotator"},
    ),
    "projects:save_view": Rule(MEMBERS, get=NO, post=302, data={"page": "items:items", "name": "mine"}),
    # Their own view alone.
    "projects:delete_view": Rule(
        ("researcher",),
        get=NO,
        post=302,
        args=("saved_view",),
        instead={person: NOT_THERE for person in MEMBERS if person != "researcher"},
    ),
    "projects:read_all": Rule(SIGNED_IN, get=NO, post=302, slug=False),
    "projects:notification_settings": Rule(SIGNED_IN, post=422, slug=False),
    # Whoever has the mail may end the mails.
    "projects:unsubscribe": Rule(EVERYBODY, post=200, slug=False, args=("unsubscribe_token",)),
    "projects:second_factor": Rule(SIGNED_IN, post=422, slug=False),
    "projects:password_reset": Rule(EVERYBODY, post=200, slug=False),
    # A link that never held says so; the form below it takes nothing.
    "projects:password_new": Rule(EVERYBODY, post=200, slug=False, args=("uidb64", "reset_token")),
    # A form without a name; who is signed in is a member at once.
    "projects:join": Rule(
        EVERYBODY, post=422, slug=False, args=("invitation_token",), instead_of_post=dict.fromkeys(SIGNED_IN, 302)
    ),
    "projects:invitations": owner_page(post=422),
    "projects:invite_team": owner_page(get=NO, post=422),
    "projects:invitation_withdraw": owner_page("invitation", get=NO, post=302),
    "annotation:comment": Rule(("reviewer", *OWNERS), get=NO, post=302, args=("item",), data={"text": "a man sits"}),
    "annotation:resolve_comment": Rule(("reviewer", *OWNERS), get=NO, post=302, args=("item", "comment")),
    "annotation:project_settings": owner_page(post=422),
    "annotation:archive_project": owner_page(get=NO, post=302),
    # The world's project is not deleted, so there is nothing to restore.
    "annotation:restore_project": Rule(OWNERS, get=NO, post=404, instead=dict.fromkeys(MEMBERS, NOT_THERE)),
    "projects:trail": owner_page(),
    "projects:trail_file": owner_page(),
    "projects:webhooks": owner_page(post=422),
    "projects:webhook": owner_page("webhook", post=400),
    "projects:webhook_test": owner_page("webhook", get=NO, post=302),
    "projects:webhook_rotate": owner_page("webhook", get=NO, post=200),
    "projects:webhook_delete": owner_page("webhook", get=NO, post=302),
    "projects:webhook_retry": owner_page("webhook", "delivery", get=NO, post=302),
    "projects:consent": Rule(MEMBERS, post=422),
    "projects:consent_texts": owner_page(post=422),
    "annotation:enter": Rule(EVERYBODY, get=403, post=403, slug=False, args=("study_key",)),
    "annotation:own_data": Rule(SIGNED_IN, slug=False),
    "annotation:crowd": owner_page(post=422),
    "annotation:crowd_study": owner_page("crowd_study", post=422),
    "annotation:crowd_study_list": owner_page("crowd_study", "study_list", post=NO),
    "annotation:crowd_study_move": owner_page("crowd_study", "study_move", get=NO, post=302),
    # Their own alone: nobody has one in the world below but the annotator, who has done nothing yet.
    "annotation:place": Rule(("annotator",), post=403, instead=dict.fromkeys({*SIGNED_IN} - {"annotator"}, NOT_THERE)),
    "annotation:leave": Rule(MEMBERS, post=422),
    "erasure:erase": Rule(SIGNED_IN, post=422, slug=False),
    # Only crowd workers are erased by others than themselves.
    "erasure:erase_worker": Rule(OWNERS, post=422, args=("member",)),
    "corpus:subtests": owner_page(post=422),
    "corpus:characters": owner_page(post=422),
    "corpus:videos": owner_page(),
    "corpus:video": owner_page("video"),
    "corpus:video_panel": owner_page("video"),
    # By row number for those who may know which video it is; everybody else by what their own page says.
    "corpus:media": owner_page("video"),
    "corpus:clip": Rule(
        ("annotator",), args=("clip_token",), instead={person: NOT_THERE for person in MEMBERS if person != "annotator"}
    ),
    "corpus:film_strip": owner_page("video"),
    "corpus:video_warning": owner_page("video", get=NO, post=302),
    # Without a reason nothing is taken down.
    "annotation:takedown": owner_page("video", post=422),
    "annotation:decline": own_lease(post=302, args=("edit_token",)),
    "generation:methods": Rule(SIGNED_IN, slug=False),
    "generation:runs": owner_page(),
    "generation:new_run": owner_page(post=422),
    "generation:method_fields": owner_page(),
    "generation:run_preview": Rule(OWNERS, get=NO, post=200),
    "generation:run": owner_page("generation_run"),
    "generation:run_progress": owner_page("generation_run"),
    # Nothing moves in the world below: the page says so.
    "generation:thresholds": owner_page("generation_run", post=422),
    "generation:prompts": owner_page(post=422),
    "generation:run_skipped": owner_page("generation_run"),
    "generation:start_benchmark": Rule(OWNERS, get=NO, post=302),
    "generation:resume_run": Rule(OWNERS, get=NO, post=302, args=("generation_run",)),
    "generation:stop_run": Rule(OWNERS, get=NO, post=400, args=("generation_run",)),
    "generation:selections": owner_page(post=422),
    # Not worked out yet: the page says so.
    "generation:selection": owner_page("selection", post=422),
    "generation:selection_progress": owner_page("selection"),
    "generation:candidate": owner_page("candidate"),
    "generation:captions": owner_page(post=422),
    "generation:maker_fields": owner_page(),
    "generation:caption_run": owner_page("caption_run"),
    # Nothing is in the world's train split.
    "generation:tunings": owner_page(post=422),
    "pairs:pairs": owner_page(post=422),
    "choices:choices": owner_page(post=422),
    "generation:tuning": owner_page("tuning"),
    "generation:make_captions": Rule(OWNERS, get=NO, post=302, args=("caption_run",)),
    "annotation:people": owner_page(post=422),
    "annotation:member": owner_page("member"),
    "annotation:member_panel": owner_page("member"),
    "annotation:member_roles": owner_page("member", get=NO, post=302),
    "annotation:member_remove": owner_page("member", get=NO, post=302),
    "annotation:people_reviewing": owner_page(post=422),
    "annotation:assignments": owner_page(post=422),
    "annotation:people_figures": owner_page(),
    "annotation:people_figures_file": owner_page(),
    "annotation:people_pay": owner_page(post=422),
    "annotation:own_figures": Rule(MEMBERS),
    "annotation:vote_rule": owner_page("subtest", post=422),
    "annotation:ask_for_votes": owner_page("subtest", get=NO, post=302),
    "annotation:guidelines": owner_page(),
    # A piece is in somebody's hands below: the page warns before it takes a new version.
    "annotation:guideline": owner_page("stage", post=200),
    "annotation:subtest_guideline": owner_page("stage", "subtest", post=200),
    "annotation:guideline_preview": owner_page(get=NO, post=200),
    # Without a reason nothing is settled.
    "annotation:disputed_items": Rule(("reviewer", *OWNERS)),
    "annotation:undo_decisions": Rule(("reviewer", *OWNERS), get=NO, post=302),
    "annotation:disputed_item": Rule(("reviewer", *OWNERS), post=400, args=("disputed",)),
    # Addresses from before 0.3.0: whoever may not see the page is refused where they lead.
    "annotation:splits": Rule(SIGNED_IN, get=301, post=308),
    "annotation:split": Rule(SIGNED_IN, get=301, post=308, args=("disputed",)),
    "annotation:repairs": owner_page(),
    "annotation:repair": owner_page("doubted", post=400),
    "annotation:validators": owner_page(),
    "annotation:validator_move": owner_page("member", "validator_move", get=NO, post=302),
    "annotation:quality": owner_page(post=422),
    "annotation:label": owner_page(post=200),
    "annotation:add_practice": owner_page(get=NO, post=422),
    "annotation:withdraw": owner_page("withdraw_kind", "pair", get=NO, post=302),
    "annotation:gold": owner_page("use", post=422),
    "annotation:practice": Rule(MEMBERS, post=302),
    "annotation:qualification": Rule(("validator", "superuser"), post=302),
    "annotation:attempt": own_exercise(get=302),
    "annotation:question": own_exercise("place", post=400),
    "annotation:hide_introduction": Rule(MEMBERS, get=NO, post=302),
    "annotation:work": Rule(MEMBERS),
    "annotation:queue": Rule(("annotator", "superuser"), post=302, args=("stage",)),
    "annotation:edit": own_work("annotator", "edit_token"),
    "annotation:replacement": Rule(("annotator",), args=("edit_token",), instead={"superuser": NOT_THERE}),
    "annotation:review": own_work("reviewer", "review_token"),
    "annotation:validation": own_work("validator", "validation_token"),
    "annotation:baseline": own_work("annotator", "baseline_token"),
    "annotation:unseen": own_work("annotator", "unseen_token"),
    "annotation:objects": own_work("annotator", "objects_token"),
    "annotation:studies": owner_page(post=422),
    "annotation:caption_objects": owner_page(get=NO, post=302),
    "annotation:object_check": owner_page("object_check", post=302),
    "annotation:frame_image": Rule(MEMBERS, args=("frame",)),
    "annotation:heartbeat": own_lease(post=200, args=("edit_token",)),
    "annotation:draft": own_lease(post=200, args=("edit_token",), data={"draft": '{"base": "", "values": {}}'}),
    "annotation:skip": own_lease(post=302, args=("edit_token",)),
    "annotation:undo": own_lease(post=302, args=("work_kind", "edit")),
    "dashboard:dashboard": Rule(MEMBERS),
    "dashboard:dashboard_runs": owner_page(),
    "dashboard:dashboard_count": owner_page(),
    "dashboard:plan": owner_page(),
    "dashboard:target": owner_page(get=NO, post=422),
    "imports:new_import": owner_page(post=422),
    "imports:new_file": owner_page(get=NO, post=400),
    # It takes HEAD, PATCH and DELETE (tests/evaluation/test_import_parts.py).
    "imports:file": owner_page("file_token", get=NO),
    # Of an object store: tests/evaluation/test_import_objects.py.
    "imports:object": owner_page("file_token", get=NOT_THERE),
    "imports:import": owner_page("import"),
    "imports:import_progress": owner_page("import"),
    "imports:strip": owner_page("import", "strip_number"),
    # The import of the world below is no table: the page goes on to the import's own.
    "imports:import_columns": owner_page("import", get=302, post=302),
    "imports:confirm_import": owner_page("import", get=NO, post=302),
    "imports:discard_import": owner_page("import", get=NO, post=302),
    "imports:undo_import": owner_page("import", get=NO, post=400),
    "items:captions": owner_page(post=302),
    "items:caption_panel": owner_page("doubted"),
    "items:items": owner_page(),
    "items:item": owner_page("item"),
    "generation:candidate_panel": owner_page("candidate"),
    "items:panel": owner_page("item"),
    "items:bulk": owner_page(get=NO, post=302, data={"move": "retract"}),
    "items:item_move": owner_page("item", get=NO, post=302, data={"move": "retract"}),
    "reports:reports": owner_page(),
    "reports:report": owner_page("report"),
    "reports:report_file": owner_page("report", "extension"),
    "reports:report_chart": owner_page("report", "chart"),
    # It names no item.
    "reports:repair": owner_page(get=NO, post=404),
    "reports:report_ask": owner_page("job_report", get=NO, post=302),
    # Nobody has voted in the world below: there is nothing to compute from.
    "reports:report_progress": owner_page("job_report", get=400),
    "blind:blind_bars": owner_page(get=NO, post=422),
    "blind:blind_scorer": owner_page(get=NO, post=422),
    "releases:releases": owner_page(),
    "releases:freeze": owner_page(post=302),
    "releases:release": owner_page("release", post=422),
    "releases:release_data": owner_page("release"),
    "releases:release_validation": owner_page("release"),
    "releases:release_chart": owner_page("release"),
    "exports:export": owner_page("release", "exporter", get=NO, post=200),
    "exports:exports": owner_page("release"),
    # Nothing was exported by a job in the world below.
    "exports:export_file": owner_page("release", "item", get=NOT_THERE),
    "board:leaderboard": owner_page("release"),
    "board:leaderboard_file": owner_page("release", "extension"),
    "releases:release_changes": owner_page("release"),
    "scoring:run_scores": owner_page("scoring_run", "scores_form"),
    "reports:analysis": owner_page("release", "analysis"),
    # Nothing is scored in the world below: the file says so.
    "reports:analysis_file": owner_page("release", "analysis", "extension", get=409),
    "scoring:bring_scores": owner_page("release", post=422),
    "open_answers:board": owner_page("release", post=422),
    "open_answers:sample": owner_page("open_set", post=302),
    "proximity:proximity": owner_page("release", get=NO, post=422),
    "proximity:proximity_progress": owner_page("release"),
    "board:compare": owner_page("release"),
    "board:compare_file": owner_page("release"),
    "board:compare_item": owner_page("release"),
    "scoring:run": owner_page("scoring_run"),
    "scoring:rung_costs": owner_page("release"),
    "ladder:run_ladder": owner_page("scoring_run", post=422),
    "ladder:add_controls": owner_page("scoring_run", get=NO, post=302),
    # The run of the world below has no ladder.
    "ladder:run_ladder_file": owner_page("scoring_run", "extension", get=404),
    "ladder:release_ladder": owner_page("release"),
    "ladder:release_ladder_file": owner_page("release", "extension", get=404),
    # The run has not loaded its model yet: the form says so.
    "scoring:model_card": owner_page("scoring_run", post=422),
    "scoring:run_progress": owner_page("scoring_run"),
    "scoring:stop_run": Rule(OWNERS, get=NO, post=302, args=("scoring_run",)),
    "scoring:resume_run": Rule(OWNERS, get=NO, post=400, args=("scoring_run",)),
    "scoring:run_file": owner_page("scoring_run", "extension"),
    "scoring:answers": owner_page("scoring_run"),
    "scoring:answers_file": owner_page("scoring_run"),
    # No student is named below.
    "utd:bias": owner_page(),
    "utd:bias_progress": owner_page(),
    "utd:bias_describe": owner_page(post=422),
    "utd:bias_files": owner_page(post=422),
    "utd:bias_measure": owner_page(post=422),
    "utd:bias_splits": owner_page(post=422),
    "utd:bias_ablation": owner_page(),
    "utd:bias_datasets": owner_page(),
    "utd:bias_items": owner_page(post=422),
    "utd:bias_items_progress": owner_page(),
    "utd:bias_bar": owner_page(get=NO, post=302),
    "utd:bias_descriptions": owner_page("descriptions"),
    "utd:bias_go_on": owner_page("descriptions", get=NO, post=302),
    "utd:bias_run": owner_page("bias_run"),
    "utd:bias_run_progress": owner_page("bias_run"),
    "utd:bias_split": owner_page("bias_run"),
    "utd:bias_samples": owner_page("bias_run"),
    "utd:bias_reliability": owner_page("bias_run"),
    "utd:bias_models": owner_page("bias_run", post=422),
    "utd:bias_train": owner_page("bias_run", post=422),
    # Nothing is measured in the world below.
    "utd:bias_download": owner_page("bias_run", "exporter", "extension", get=NOT_THERE),
    # Nothing is required of what a project says of itself.
    "publishing:publication": owner_page(post=302),
    "publishing:datasheet": owner_page(post=302),
    "publishing:save_answer": owner_page("question", get=NO, post=200),
    "publishing:public_page": owner_page("release", post=302),
    "publishing:public_page_move": owner_page("release", "page_move", get=NO, post=302),
    "publishing:item_reports": owner_page("release", post=302),
    # A red checklist needs a reason, and no folder is written in the world below.
    "publishing:publish": owner_page("release", post=422),
    "publishing:publish_file": owner_page("release", get=NOT_THERE),
    "publishing:submission": owner_page("release", "submission", get=NO, post=302),
    # Whoever has the address, signed in or not.
    "publishing:public_release": Rule(EVERYBODY, slug=False, args=("public_key",)),
    **{
        f"publishing:public_{tab}": Rule(EVERYBODY, slug=False, args=("public_key",))
        for tab in ("data", "leaderboard", "embed", "validation", "versions")
    },
    "publishing:public_scores": Rule(EVERYBODY, post=422, slug=False, args=("public_key",)),
    "publishing:report": Rule(EVERYBODY, post=422, slug=False, args=("public_key",)),
    "publishing:report_sent": Rule(EVERYBODY, slug=False, args=("public_key",)),
    "publishing:public_sent": Rule(EVERYBODY, slug=False, args=("public_key",)),
    # No file.
    "audit": Rule(EVERYBODY, post=422, slug=False),
    # The example's source allows no video, and there is no archive yet.
    "publishing:public_video": Rule(EVERYBODY, get=NOT_THERE, slug=False, args=("public_key", "place")),
    "publishing:public_preview": Rule(EVERYBODY, slug=False, args=("public_key",)),
    "publishing:public_strip": Rule(EVERYBODY, get=NOT_THERE, slug=False, args=("public_key", "place")),
    "publishing:public_export": Rule(EVERYBODY, get=NOT_THERE, slug=False, args=("public_key",)),
    "teacher:teacher": owner_page(post=422),
    "teacher:teacher_training": owner_page("teacher_training"),
    "teacher:teacher_curve": owner_page("teacher_training"),
    # It was never queued.
    "teacher:teacher_resume": owner_page("teacher_training", get=NO, post=400),
    "teacher:teacher_read": owner_page("teacher_training", get=NO, post=400),
    "teacher:teacher_reading": owner_page("teacher_training", "release"),
    # Nothing is read yet.
    "teacher:teacher_reading_file": owner_page("teacher_training", "release", "extension", get=NOT_THERE),
    "teacher:teacher_comparison": owner_page("release"),
    "teacher:teacher_comparison_file": owner_page("release"),
}
# Words of a URL that are the same in every project; all other arguments name a row of one.
# These open the door to whoever holds them.
OPENS = {"invitation_token", "study_key", "public_key", "unsubscribe_token"}
WORDS = {
    "help_name": "how-to/score",
    "study_list": "approve",
    "study_move": "close",
    "page_move": "address",
    "question": "collection.ethics",
    "uidb64": "MQ",
    "reset_token": "set-password",
    "validator_move": "pause",
    "withdraw_kind": "pair",
    "use": "mixed",
    "place": 0,
    "stage": "edit",
    "work_kind": "edit",
    "report": "validation",
    "analysis": "delta",
    "extension": "json",
    "scores_form": "vilma",
    "job_report": "skill",
    "chart": "votes",
    "exporter": "jsonl",
    "file_token": "made-up",
}


def url_names(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """The full name of every pattern; an unnamed one by its route, which has no rule and so fails."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from url_names(entry, f"{prefix}{entry.namespace}:" if entry.namespace else prefix)
        elif isinstance(entry, URLPattern):
            yield f"{prefix}{entry.name or entry.pattern}"


def test_every_url_has_a_rule_and_every_rule_a_url():
    """Those of the API have theirs in tests/test_api_access_matrix.py."""
    names = list(url_names(get_resolver()))
    assert len(names) == len(set(names))
    assert {name for name in names if not name.startswith("api:")} == set(RULES)


@dataclass
class World:
    """A project with one row of everything, and one person of each kind."""

    slug: str
    people: dict[str, User | None]
    values: dict[str, Any]
    # What is on pages of the project, and on no page that somebody is refused.
    names: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def worlds_of_the_file(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[tuple[World, World, Path]]:
    """Two projects and the folder of their files, made once: making them is what takes the time."""
    folder = tmp_path_factory.mktemp("worlds")
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(MEDIA_ROOT=folder, UPLOAD_ROOT=folder / "uploads"):
            made = make_world(), make_world()
        for person in (person for world in made for person in world.people.values() if person is not None):
            client = Client()
            client.force_login(person)
            person.session_key = client.session.session_key
        yield *made, folder
        transaction.set_rollback(True)


@pytest.fixture
def worlds(worlds_of_the_file, db) -> Iterator[tuple[World, World]]:
    """The same for one test, which may write to them: it is taken back."""
    *made, folder = worlds_of_the_file
    world, other = copy.deepcopy(made)
    with override_settings(MEDIA_ROOT=folder, UPLOAD_ROOT=folder / "uploads"):
        yield world, other


@pytest.fixture
def world(worlds) -> World:
    return worlds[0]


def make_submission(release: Release) -> Submission:
    about = {"label": "m", "sent_by": "s", "contact": "c", "file_name": "x.jsonl", "path": "none/x.jsonl", "n_items": 1}
    return Submission.objects.create(release=release, sha256="0" * 64, **about)


def make_training(release: Release) -> TeacherTraining:
    training = TeacherTraining.objects.create(project=release.project, label="taught", student="tiny:start")
    TeacherPoint.objects.create(training=training, step=1, loss=0.5)
    StudentEvaluation.objects.create(training=training, release=release)
    return training


def make_world() -> World:
    number = Project.objects.count()
    named = [f"{word}-{number}." for word in ("Zanzibar project", "quagga subtest", "jabberwock clip", "A man yodels")]
    project = make_project(name=named[0])
    people = {role: make_member(project, role) for role in Role.values}
    everyone = {**people, "anonymous": None, "stranger": make_user(), "superuser": make_user(is_superuser=True)}
    video = make_video(project, key=named[2])
    video.file.save("clip.mp4", ContentFile(b"not played here"))
    video.film_strip.save("strip.jpg", ContentFile(b"not shown here"))
    subtest = make_subtest(project, name=named[1])
    group = make_group(make_run(subtest), make_caption(video, named[3]))
    edited = make_candidate(group, state=CandidateState.EDITING)
    reviewed = make_candidate(make_group(group.run), state=CandidateState.IN_REVIEW)
    judged, valid = make_item(subtest), make_item(subtest, state=ItemState.VALID)
    release = freeze_release(people["researcher"], project)
    check = ObjectCheck.objects.create(project=project, source="import", opened_at=timezone.now())
    frame = CheckedFrame.objects.create(check_of=check, video=video, time=0.5, objects_named=["table"], state="ready")
    frame.image.save("frame.jpg", ContentFile(b"not shown here"))
    tasks = {
        "edit": make_task(project, Stage.EDIT, video, group=group),
        "review": make_task(project, Stage.REVIEW, reviewed.group.caption.video, candidate=reviewed),
        "validation": make_task(project, Stage.VALIDATION, judged.video, 3, item=judged, foil=judged.foils.get()),
        "baseline": make_task(project, Stage.BASELINE, video, item=valid),
        "unseen": make_task(project, Stage.UNSEEN, video, item=valid),
        "objects": make_task(project, Stage.OBJECTS, video, frame=frame),
    }
    edit = Edit.objects.create(group=make_group(make_run(subtest)), person=people["annotator"], texts=[])
    invitation = Invitation.objects.create(
        project=project, roles=["annotator"], most_uses=None, expires_at=timezone.now() + timedelta(days=1)
    )
    hook = Webhook.objects.create(project=project, url="https://example.org/hook", salt="s", events=["item.decided"])
    failed = Delivery.objects.create(
        webhook=hook, event="item.decided", payload={}, state=Delivery.State.FAILED, next_at=timezone.now()
    )
    study = CrowdStudy.objects.create(project=project, name="s", stage="edit", role="annotator", pieces=1, places=1)
    CrowdWorker.objects.create(project=project, platform="prolific", worker="w1", person=people["annotator"])
    CrowdPlace.objects.create(
        study=study, person=people["annotator"], entered_at=timezone.now(), deadline=timezone.now() + timedelta(hours=1)
    )
    values = {
        "webhook": hook.pk,
        "delivery": failed.pk,
        "invitation": invitation.pk,
        "invitation_token": token_of(invitation),
        "crowd_study": study.pk,
        "study_key": study.key,
        "video": video.pk,
        "clip_token": clip_token(video.pk, people["annotator"].pk, Piece.SLOT, 1),
        "member": people["annotator"].pk,
        "notification": Notification.objects.create(
            person=people["annotator"], project=project, role=Role.ANNOTATOR, kind="returned", key="1"
        ).pk,
        "saved_view": SavedView.objects.create(
            person=people["researcher"], project=project, page="items:items", name="view"
        ).pk,
        "unsubscribe_token": token_of_mail(people["annotator"].pk),
        "api_token": make_token(people["annotator"], name="nightly").token.pk,
        "generation_run": group.run.pk,
        "candidate": edited.pk,
        "tuning": Tuning.objects.create(project=project, base_model="google-t5/t5-base").pk,
        "caption_run": CaptionRun.objects.create(project=project, maker="cos_caption", preview={"n_made": 1}).pk,
        "item": valid.pk,
        "comment": ItemComment.objects.create(item=valid, author=people["researcher"], text="a man sits").pk,
        "subtest": subtest.pk,
        "disputed": make_item(subtest, state=ItemState.DISPUTED).pk,
        "doubted": make_caption(video, "a man sits.", flagged_false=True).pk,
        "selection": Selection.objects.create(project=project, subtest=subtest, kind="balance").pk,
        "release": release.pk,
        "import": (upload := Import.objects.create(project=project, preview={})).pk,
        "strip_number": 0,
        "scoring_run": start_run(people["researcher"], release, RunRequest("fake:")).pk,
        "open_set": OpenAnswerSet.objects.create(release=release, label="answers").pk,
        "teacher_training": make_training(release).pk,
        "descriptions": (texts := Descriptions.objects.create(project=project, name="d", extractor="fake-reader:")).pk,
        "bias_run": BiasRun.objects.create(project=project, descriptions=texts, name="b").pk,
        "submission": make_submission(release).pk,
        "public_key": PublicPage.objects.create(release=release, is_open=True, takes_scores=True).key,
        "edit": edit.pk,
        "pair": (pair := make_gold(subtest, valid)).pk,
        "attempt": make_attempt(people["validator"], pair).pk,
        "edit_token": leased(tasks["edit"], people["annotator"]),
        "review_token": leased(tasks["review"], people["reviewer"]),
        "baseline_token": leased(tasks["baseline"], people["annotator"]),
        "unseen_token": leased(tasks["unseen"], people["annotator"]),
        "objects_token": leased(tasks["objects"], people["annotator"]),
        "object_check": check.pk,
        "frame": frame.pk,
        "validation_token": leased(tasks["validation"], people["validator"]),
        **WORDS,
    }
    strip_path(upload, 0).parent.mkdir(parents=True)
    strip_path(upload, 0).write_bytes(b"")
    assert valid.released_as.exists()
    return World(project.slug, everyone, values, tuple(named))


def make_gold(subtest: Any, item: Any) -> GoldPair:
    """A pair to be asked in the qualification."""
    texts = {"caption_text": item.caption.text, "foil_text": item.foils.get().text}
    project, video = subtest.project, item.video
    return GoldPair.objects.create(
        project=project, use="qualification", subtest=subtest, video=video, item=item, answer="caption", **texts
    )


def make_attempt(person: User, pair: GoldPair) -> Attempt:
    """The person's first go at the qualification, one question of it open."""
    stages = {"stage": Stage.QUALIFICATION, "of_stage": Stage.VALIDATION}
    attempt = Attempt.objects.create(project=pair.project, person=person, number=1, **stages)
    Question.objects.create(attempt=attempt, place=0, pair=pair, caption_first=True)
    return attempt


def leased(task: Task, person: User) -> str:
    """The token of a running lease of `person` on the task's first place."""
    slot, now = task.slots.order_by("index")[0], timezone.now()
    slot.state, slot.person, slot.token = SlotState.LEASED, person, f"token-{task.stage}-{task.pk}"
    slot.leased_at, slot.expires_at = now, now + timedelta(minutes=30)
    slot.save()
    first = True if task.stage == Stage.VALIDATION else None
    order = [0, task.item.foils.get().pk] if task.stage == Stage.BASELINE else None
    shown = {"caption_first": first, "order_shown": order}
    Lease.objects.create(slot=slot, task=task, person=person, token=slot.token, leased_at=now, **shown)
    return slot.token


def address(name: str, world: World, foreign: World | None = None) -> str:
    """The URL in `world`, its row taken from `foreign` where one is given."""
    rule, values = RULES[name], (foreign or world).values
    return reverse(name, args=[*([world.slug] if rule.slug else []), *(values[arg] for arg in rule.args)])


class Asked(NamedTuple):
    """The answer to one request, and the file or page that came."""

    status: int
    location: str
    body: str


def ask(url: str, method: str, person: User | None, data: dict[str, Any]) -> Asked:
    """Return the answer to one request by `person`; whatever it wrote is rolled back."""
    client = quick_client()
    with transaction.atomic():
        if person is not None:
            _sign_in(client, person)
        send: Callable[..., Any] = client.get if method == "GET" else client.post
        response = send(url, data)
        # Read to its end, so that no file stays open.
        body = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    return Asked(response.status_code, response.headers.get("Location", ""), body.decode(errors="replace"))


def _sign_in(client: Client, person: User) -> None:
    """By the session that was made for the person with the world, where there is one: making one costs a third."""
    key = getattr(person, "session_key", None)
    if key is None:
        client.force_login(person)
    else:
        client.cookies[settings.SESSION_COOKIE_NAME] = key


def people_who_ask(rule: Rule) -> list[str]:
    """Everybody who is refused; of those who may, the first and the validator, from whom pages hide the video."""
    first = next(person for person in EVERYBODY if person in rule.may)
    return [p for p in EVERYBODY if p not in rule.may or p in {first, "validator", *rule.instead}]


@pytest.mark.parametrize("everybody", [False, pytest.param(True, marks=pytest.mark.full)], ids=["some", "everybody"])
@for_each("name, method", product(RULES, ("GET", "POST")))
def test_who_is_answered_what(name, method, everybody, world):
    rule = RULES[name]
    url, people = address(name, world), EVERYBODY if everybody else people_who_ask(rule)
    answers = {person: ask(url, method, world.people[person], rule.data) for person in people}
    assert {person: answer.status for person, answer in answers.items()} == {
        person: rule.expected(person, method) for person in people
    }
    if "anonymous" not in rule.may:
        assert answers["anonymous"].location.startswith("/sign-in/?next=")
    assert told_too_much(rule, world, answers) == []


def told_too_much(rule: Rule, world: World, answers: dict[str, Asked]) -> list[tuple[str, str]]:
    """Return (person, name) for each name on the answer to somebody who may not know it.

    Outside the project nobody knows its names, unless an address opens the door. A member who is refused knows the
    project and no more. Whoever judges never learns which video it is.
    """
    inside = world.names[1:]
    said = []
    for person, answer in answers.items():
        outside = person in ("anonymous", "stranger") and not OPENS & {*rule.args}
        refused = answer.status in (REFUSED, NOT_THERE)
        hidden = world.names if outside else inside if refused else [world.names[2]] if person == "validator" else ()
        body = html.unescape(answer.body + answer.location)
        said += [(person, name) for name in hidden if name in body]
    return said


# An old address reads no row: the page that it leads to does.
OF_ROWS = [name for name, rule in RULES.items() if set(rule.args) - set(WORDS) - OPENS and rule.get != 301]


@for_each("name", OF_ROWS)
def test_rows_of_another_project_are_not_there(name, worlds):
    """Somebody of both projects, too, finds a row only under its own project."""
    (world, other), rule = worlds, RULES[name]
    url = address(name, world, foreign=other)
    for person in (world.people["researcher"], other.people["researcher"], world.people["superuser"]):
        for method, answer in (("GET", rule.get), ("POST", rule.post)):
            status, location, body = ask(url, method, person, rule.data)
            assert status == NO if answer == NO else status in {NOT_THERE, REFUSED}
            if person.is_superuser and answer != NO:
                assert status == NOT_THERE
            # Neither what the row is called there, nor, to its people, what the project of the address is called.
            mine = person == other.people["researcher"]
            secret = world.names if mine else other.names
            assert [word for word in secret if word in html.unescape(body + location)] == []


@for_each("name", [name for name, rule in RULES.items() if rule.slug])
def test_a_closed_account_reaches_nothing(name, world):
    person = world.people["researcher"]
    person.is_active = False
    person.save()
    for method in ("GET", "POST"):
        assert ask(address(name, world), method, person, {}).status == SIGN_IN


def test_the_world_has_what_the_rules_ask_for(world):
    assert {arg for rule in RULES.values() for arg in rule.args} <= set(world.values)
