"""What pages offer against what the API offers: the URL table, the actions that pages call, and the operations.

This prints the table:

    DJANGO_SETTINGS_MODULE=tests.settings .venv/bin/python -c \\
        "import django; django.setup(); from tests.foilworks.api.test_coverage import show; show()"
"""

import ast
import sys
from pathlib import Path

from tests.test_access_matrix import NO
from tests.test_access_matrix import RULES as PAGES
from tests.test_api_access_matrix import OPERATIONS

ROOT = Path(__file__).parents[3]
FOLDERS = [ROOT / name for name in ("annotation", "generation", "evaluation", "foilworks/core", "foilworks/site")]
REASONS = ("sign-in", "second factor", "player", "work cards", "views of pages")
# The name of a page that takes POST -> its operations, or the reason why a program has none.
COVERAGE: dict[str, str] = {
    "projects:sign_in": "sign-in",
    "projects:sign_out": "sign-in",
    "projects:sign_in_code": "sign-in",
    "projects:sign_in_with_code": "sign-in",
    "projects:password": "sign-in",
    "projects:password_reset": "sign-in",
    "projects:password_new": "sign-in",
    # Its address resets the password.
    "projects:account": "sign-in",
    # A token cannot make tokens.
    "projects:tokens": "sign-in",
    "annotation:enter": "sign-in",
    # They ask for the password.
    "erasure:erase": "sign-in",
    "erasure:erase_worker": "sign-in",
    "projects:second_factor": "second factor",
    # In the session of a browser.
    "annotation:hide_introduction": "work cards",
    "projects:revoke_token": "revoke_token",
    "projects:create": "create_project",
    "projects:save_view": "views of pages",
    "projects:delete_view": "views of pages",
    "projects:read_all": "read_notifications",
    "projects:notification_settings": "change_notification_settings",
    "projects:unsubscribe": "change_notification_settings",
    "projects:join": "accept_invitation",
    "projects:invitations": "create_invitation",
    "projects:invite_team": "invite_team",
    "projects:invitation_withdraw": "withdraw_invitation",
    "annotation:comment": "add_comment",
    "annotation:resolve_comment": "resolve_comment",
    "annotation:project_settings": "change_settings delete_project",
    "annotation:archive_project": "archive_project",
    "annotation:restore_project": "restore_project",
    "projects:webhooks": "create_webhook",
    "projects:webhook": "restart_webhook",
    "projects:webhook_test": "ping_webhook",
    "projects:webhook_rotate": "rotate_webhook",
    "projects:webhook_delete": "delete_webhook",
    "projects:webhook_retry": "retry_delivery",
    "projects:consent": "give_consent",
    "projects:consent_texts": "publish_consent_text",
    "annotation:crowd": "open_study",
    "annotation:crowd_study": "check_code",
    "annotation:crowd_study_move": (
        "close_study reopen_study free_late_places free_place make_return_link reject_place"
    ),
    "annotation:place": "move_place",
    "annotation:leave": "leave_project",
    "corpus:subtests": "create_subtest",
    "corpus:characters": "set_characters",
    "corpus:video_warning": "set_warning",
    "annotation:takedown": "take_down",
    "annotation:decline": "decline",
    "generation:new_run": "start_run",
    "generation:run_preview": "preview_run",
    "generation:thresholds": "move_thresholds",
    "generation:prompts": "write_prompt",
    "generation:start_benchmark": "start_benchmark",
    "generation:resume_run": "retry_job",
    "generation:stop_run": "stop_job",
    "generation:selections": "start_selection",
    "generation:selection": "apply_selection",
    "generation:captions": "preview_captions",
    "generation:make_captions": "make_captions",
    "generation:tunings": "start_tuning",
    "pairs:pairs": "propose_pairs",
    "choices:choices": "preview_choices compose_choices",
    "annotation:people": "create_member renew_password",
    "annotation:member_roles": "change_roles",
    "annotation:member_remove": "remove_member",
    "annotation:people_reviewing": "change_settings",
    "annotation:assignments": "assign end_assignment",
    "annotation:people_pay": "change_settings",
    "annotation:vote_rule": "change_vote_rule",
    "annotation:ask_for_votes": "collect_votes",
    "annotation:guideline": "publish_guideline",
    "annotation:subtest_guideline": "publish_guideline",
    "annotation:guideline_preview": "preview_guideline",
    "annotation:undo_decisions": "undo_decisions",
    "annotation:disputed_item": "decide_disputed",
    "annotation:splits": "list_disputed",
    "annotation:split": "decide_disputed",
    "annotation:repair": "decide_caption",
    "annotation:validator_move": "pause_validator resume_validator exclude_votes reinstate_votes",
    "annotation:quality": "change_settings",
    "annotation:label": "label_pair",
    "annotation:add_practice": "add_practice",
    "annotation:withdraw": "withdraw_gold",
    "annotation:gold": "add_gold",
    "annotation:practice": "start_exercise",
    "annotation:qualification": "start_exercise",
    "annotation:question": "answer_question",
    "annotation:queue": "claim",
    **dict.fromkeys(
        (f"annotation:{stage}" for stage in ("edit", "review", "validation", "baseline", "unseen", "objects")), "submit"
    ),
    "annotation:studies": "open_choices open_object_check",
    "annotation:caption_objects": "extract_objects",
    "annotation:object_check": "classify_object",
    "annotation:heartbeat": "heartbeat",
    "annotation:draft": "save_draft",
    "annotation:skip": "skip",
    "annotation:undo": "undo",
    "dashboard:target": "change_settings",
    "imports:new_import": "create_import",
    "imports:new_file": "create_import",
    "imports:import_columns": "map_import",
    "imports:confirm_import": "confirm_import",
    "imports:discard_import": "discard_import",
    "imports:undo_import": "undo_import",
    "items:bulk": "move_items",
    "items:captions": "decide_caption",
    "items:item_move": "move_item",
    "reports:repair": "repair_item",
    "reports:report_ask": "compute_report",
    "blind:blind_bars": "change_settings",
    "blind:blind_scorer": "score_texts",
    "releases:freeze": "preview_release check_release create_release",
    "releases:release": "start_scoring",
    "exports:export": "export_release",
    "scoring:bring_scores": "bring_scores",
    "proximity:proximity": "measure_proximity",
    "ladder:run_ladder": "bring_rung_scores",
    "ladder:add_controls": "add_controls",
    "scoring:model_card": "change_model_card",
    "open_answers:board": "bring_open_answers",
    "open_answers:sample": "judge_answer_sample",
    "scoring:stop_run": "stop_job",
    "scoring:resume_run": "retry_job",
    "utd:bias_describe": "describe_videos",
    "utd:bias_files": "import_descriptions",
    "utd:bias_measure": "measure_bias",
    "utd:bias_splits": "import_splits",
    "utd:bias_items": "check_shortcuts",
    "utd:bias_bar": "change_settings",
    "utd:bias_go_on": "retry_job",
    "utd:bias_models": "import_answers",
    "utd:bias_train": "predict_samples",
    "publishing:publication": "change_settings change_sources",
    "publishing:datasheet": "change_datasheet",
    "publishing:save_answer": "change_datasheet",
    "publishing:public_page": "change_public_page",
    "publishing:public_page_move": "renew_address renew_archive",
    "publishing:item_reports": "decide_item_reports",
    "publishing:publish": "write_folder",
    "publishing:submission": "decide_submission",
    "publishing:public_scores": "send_scores",
    "publishing:report": "report_item",
    "audit": "audit_file",
    "teacher:teacher": "start_training",
    "teacher:teacher_resume": "retry_job",
    "teacher:teacher_read": "evaluate_training",
}
# Actions that pages call and no operation does, each with its reason.
ABSENT: dict[str, str] = {
    **dict.fromkeys(("begin_second_factor", "check_second_factor", "confirm_second_factor"), "second factor"),
    **dict.fromkeys(("remove_second_factor", "renew_recovery_codes"), "second factor"),
    **dict.fromkeys(("change_account", "change_password", "note_sign_in"), "sign-in"),
    **dict.fromkeys(("erase_person", "may_erase"), "sign-in"),
    # Programs correct several captions one by one, with decide_caption.
    **dict.fromkeys(("save_view", "delete_view", "correct_captions"), "views of pages"),
}


def pages_with_writes() -> set[str]:
    """The pages that take POST: addresses of the API are none."""
    return {name for name, rule in PAGES.items() if rule.post != NO and name != "api_unknown"}


def writes() -> set[str]:
    """The functions of modules of actions that a person calls: the first parameter says who."""
    found = set()
    for path in (path for folder in FOLDERS for path in folder.rglob("*.py") if "actions" in path.parts):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.args.args and not node.name.startswith("_"):
                found |= {node.name} if node.args.args[0].arg in ("person", "actor") else set()
    return found


def named(files: set[Path]) -> set[str]:
    """Every name that these files import or look up."""
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    return attributes | {alias.name for node in imports for alias in node.names}


def views_and_api() -> tuple[set[Path], set[Path]]:
    files = {path for folder in FOLDERS for path in folder.rglob("*.py")}
    views = {path for path in files if path.stem.endswith("views") or path.parent.name == "views"}
    return views, {path for path in files if path.parent.name == "api"}


def absent_pages() -> dict[str, str]:
    return {name: row for name, row in COVERAGE.items() if row in REASONS}


def test_every_page_with_a_write_has_operations_or_a_listed_reason():
    assert set(COVERAGE) == pages_with_writes()
    operations = {operation for name, row in COVERAGE.items() if row not in REASONS for operation in row.split()}
    assert operations <= set(OPERATIONS)


def test_at_most_a_tenth_is_absent():
    # A view belongs to a page: a program has no use for it.
    assert sum(reason != "views of pages" for reason in absent_pages().values()) <= len(COVERAGE) / 10


def test_every_action_of_a_page_is_called_by_an_operation():
    views, api = views_and_api()
    called = named(views) & writes()
    assert len(called) > 100
    assert sorted(called - named(api) - set(ABSENT)) == []
    assert sorted(set(ABSENT) - called) == []
    assert set(ABSENT.values()) <= set(REASONS)


def show() -> None:
    for page, operations in COVERAGE.items():
        sys.stdout.write(f"{page:34} {operations}\n")
    absent = absent_pages()
    counts = f"{len(absent)} without operations; {len(OPERATIONS)} operations"
    sys.stdout.write(f"{len(COVERAGE)} pages with writes, {counts}\n")
