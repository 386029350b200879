"""What a person did, in words: one phrase per action of the audit trail, to read after the person's name."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

# Work on single items; the trail has many such rows for each change of a setting.
OF_WORK: dict[str, Promise] = {
    "accept": _("accepted a foil"),
    "add_votes": _("asked for more votes"),
    "adjudicate": _("adjudicated an item"),
    "assemble": _("created an item from accepted foils"),
    "claim": _("started to edit a foil"),
    "end_lease": _("ended the reservation of a task"),
    "finish_attempt": _("finished an exercise"),
    "lease": _("reserved a task"),
    "queue": _("queued a foil"),
    "recount": _("counted the votes of an item again"),
    "replace_vote": _("asked for a vote in place of an excluded one"),
    "reopen": _("reopened a foil"),
    "send_back": _("sent a foil back"),
    "label_pair": _("labelled a pair"),
    "start_attempt": _("started an exercise"),
    "submit": _("sent a foil to review"),
    "submit_choice": _("judged a pair without the video"),
    "submit_edit": _("submitted an edit"),
    "submit_objects": _("checked the objects of a frame"),
    "submit_review": _("submitted a review"),
    "submit_vote": _("submitted a vote"),
    "supersede": _("replaced a foil by an edited one"),
    "take_apart": _("took an item apart"),
    "undo_choice": _("undid an answer"),
    "undo_edit": _("undid an edit"),
    "undo_objects": _("undid an answer"),
    "undo_review": _("undid a review"),
    "undo_vote": _("undid a vote"),
    "vote": _("judged an item"),
    "write": _("wrote a foil"),
}
PHRASES: dict[str, Promise] = {
    **OF_WORK,
    "add_comment": _("wrote a comment"),
    "add_gold_pair": _("added a gold pair"),
    "add_practice_caption": _("added a practice caption"),
    "annotation.ask_for_choices": _("asked people to write the answers of a question"),
    "annotation.ask_for_pairs": _("proposed items of two clips"),
    "annotation.compose_choices": _("composed multiple-choice items"),
    "annotation.compose_item": _("composed a multiple-choice item"),
    "annotation.store_pair": _("stored an item of two clips"),
    "bring_votes_back": _("reinstated the votes of a validator"),
    "check_completion_code": _("checked a completion code"),
    "class_object": _("classified an object"),
    "collect_votes": _("asked for votes on published items"),
    "corpus.add_video": _("added a video"),
    "corpus.attach_media": _("attached a video file"),
    "corpus.create_subtest": _("created a subtest"),
    "corpus.make_clip": _("cut a clip"),
    "corpus.name_source": _("named the source of a clip"),
    "corpus.set_characters": _("changed the list of characters"),
    "corpus.set_content_warning": _("changed the content warning of a video"),
    "end_place": _("ended a place in a crowd study"),
    "enter_study": _("entered a crowd study"),
    "erase_person": _("deleted an account"),
    "estimate_skill": _("estimated the skill of validators"),
    "evaluation.add_controls": _("added rungs of the evidence ladder"),
    "evaluation.answer_samples": _("started to predict samples"),
    "evaluation.bring_benchmark": _("imported a benchmark"),
    "evaluation.bring_splits": _("imported debiased splits"),
    "evaluation.check_shortcuts": _("checked a model for shortcuts"),
    "evaluation.ask_report": _("asked for a report"),
    "evaluation.describe_videos": _("started descriptions of videos"),
    "evaluation.expire_submission": _("removed an old submission"),
    "evaluation.go_on_describing": _("resumed descriptions of videos"),
    "evaluation.import_descriptions": _("imported descriptions of videos"),
    "evaluation.import_rung_scores": _("imported scores of the evidence ladder"),
    "evaluation.measure_bias": _("started a bias run"),
    "evaluation.measure_proximity": _("measured semantic proximity"),
    "evaluation.read_release": _("evaluated a trained model on a release"),
    "evaluation.resume_teacher": _("continued a training"),
    "evaluation.score_blind": _("scored the texts alone"),
    "evaluation.set_shortcut_bar": _("changed the limit of shortcuts"),
    "evaluation.answer_datasheet": _("answered questions of the datasheet"),
    "evaluation.ask_archive": _("asked for the archive of a public page"),
    "evaluation.confirm_import": _("confirmed an import"),
    "evaluation.describe_model": _("described a model"),
    "evaluation.describe_publication": _("changed the citation and licences"),
    "evaluation.discard_import": _("discarded an import"),
    "evaluation.freeze_release": _("froze a release"),
    "evaluation.import_records": _("imported a file"),
    "evaluation.map_columns": _("said what the columns of an import are"),
    "evaluation.override_gate": _("froze a release against the blind audit"),
    "evaluation.publish_release": _("published a release on a hub"),
    "evaluation.receive_import": _("uploaded an import"),
    "evaluation.renew_address": _("changed the URL of a public page"),
    "evaluation.report_item": _("reported an item on a public page"),
    "evaluation.resume_run": _("continued a scoring run"),
    "evaluation.set_blind_bars": _("changed the limits of the blind audit"),
    "evaluation.set_public_page": _("changed a public page"),
    "evaluation.set_target": _("changed the target number of items"),
    "evaluation.start_run": _("started a scoring run"),
    "evaluation.start_teacher": _("started a training"),
    "evaluation.stop_run": _("stopped a scoring run"),
    "evaluation.submit_scores": _("submitted scores on a public page"),
    "evaluation.trust_model": _("allowed the code of a model"),
    "evaluation.update_record": _("changed stored records by an import"),
    "foilworks.demo.begin": _("created the sample project"),
    "foilworks.demo.enrol": _("added a simulated person"),
    "foilworks.demo.set_aside": _("prepared the sample project"),
    "generation.ask_hint": _("asked for a hint"),
    "generation.preview_captions": _("previewed captions"),
    "generation.start_tuning": _("started to tune a model"),
    "generation.make_captions": _("started a caption run"),
    "generation.move_thresholds": _("changed the thresholds of filters"),
    "generation.resume_run": _("continued a generation run"),
    "generation.set_hint_model": _("changed the model of the hints"),
    "generation.start_run": _("started a generation run"),
    "generation.start_selection": _("started a balanced selection"),
    "generation.apply_selection": _("applied a balanced selection"),
    "generation.stop_run": _("stopped a generation run"),
    "generation.write_prompt": _("wrote a prompt"),
    "import": _("imported a foil"),
    "import_objects": _("imported objects"),
    "import_votes": _("imported votes"),
    "link_proficiency": _("linked a proficiency subtest"),
    "open_baseline": _("started a human baseline"),
    "open_crowd_study": _("opened a crowd study"),
    "open_object_check": _("started an object check"),
    "pause": _("paused a validator"),
    "projects.accept_invitation": _("accepted an invitation"),
    "projects.add_member": _("added a member"),
    "projects.add_webhook": _("added a webhook"),
    "projects.archive_project": _("archived the project"),
    "projects.change_roles": _("changed the roles of a member"),
    "projects.create_project": _("created the project"),
    "projects.delete_project": _("deleted the project"),
    "projects.describe_project": _("changed the name or the description of the project"),
    "projects.give_consent": _("gave consent"),
    "projects.leave": _("left the project"),
    "projects.make_invitation": _("created an invitation"),
    "projects.make_token": _("created a token"),
    "projects.ping_webhook": _("tested a webhook"),
    "projects.publish_consent_text": _("published a consent text"),
    "projects.refused": _("was refused"),
    "projects.remove_member": _("removed a member"),
    "projects.remove_webhook": _("deleted a webhook"),
    "projects.renew_password": _("set a temporary password"),
    "projects.restart_webhook": _("restarted a webhook"),
    "projects.rotate_webhook": _("renewed the secret of a webhook"),
    "projects.restore_project": _("restored the project"),
    "projects.retry_delivery": _("retried a delivery"),
    "projects.revoke_token": _("revoked a token"),
    "projects.unarchive_project": _("unarchived the project"),
    "projects.withdraw_invitation": _("withdrew an invitation"),
    "publish_guideline": _("published a guideline"),
    "reenter_study": _("entered a crowd study again"),
    "reopen_comment": _("reopened a comment"),
    "requeue": _("returned an item to editing"),
    "resolve_comment": _("resolved a comment"),
    "resume": _("let a validator continue"),
    "retract": _("retracted an item"),
    "save_quality_policy": _("changed the rules of quality"),
    "set_judge_caption_once": _("changed how often a person sees a sentence"),
    "set_pay": _("changed the pay rates"),
    "set_review_shares": _("changed the review sampling"),
    "set_study_open": _("opened or closed a crowd study"),
    "set_vote_rule": _("changed the vote rule of a subtest"),
    "set_votes_aside": _("excluded the votes of a validator"),
    "set_work_rules": _("changed the rules of the work"),
    "settle_doubt": _("decided about a caption that may be wrong"),
    "take_down": _("took a video down"),
    "undo_settle_doubt": _("undid a decision about a caption"),
    "withdraw": _("withdrew from the project"),
}


def phrase(action: str) -> str | Promise:
    """Return what the person did, after their name; an empty string if the action has no phrase."""
    return PHRASES.get(action, "")


def actions_said_with(text: str) -> list[str]:
    """Return the actions whose phrase contains the text, in the reader's language."""
    return [action for action, words in PHRASES.items() if text.casefold() in str(words).casefold()]


def detail_words(details: dict[str, Any]) -> str:
    """Return the facts of a row in short: what changed as "before → after", then the other facts."""
    rest = {name: value for name, value in details.items() if name not in {"before", *AFTER}}
    before, after = details.get("before"), next((details[name] for name in AFTER if name in details), rest)
    changed = ""
    if isinstance(before, dict) and isinstance(after, dict):
        rest = {name: value for name, value in rest.items() if name not in before}
        pairs = [(name, old, after[name]) for name, old in before.items() if name in after and after[name] != old]
        changed = ", ".join(ONE_CHANGE.format(_named(name), _said(old), _said(new)) for name, old, new in pairs)
    elif before is not None and after is not rest:
        changed = CHANGE.format(_said(before), _said(after))
    facts = ", ".join(FACT.format(_named(name), _said(value)) for name, value in rest.items() if not _is_empty(value))
    return "; ".join(part for part in (changed, facts) if part)


# Where a row holds what replaced "before"; the other facts else.
AFTER = ("after", "rules", "rule")
CHANGE, ONE_CHANGE, FACT = "{} → {}", "{}: {} → {}", "{}: {}"


def _named(name: str) -> str:
    return name.replace("_", " ")


def _is_empty(value: Any) -> bool:
    return value in ("", None, [], {}, [""])


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return _now("yes") if value else _now("no")
    if isinstance(value, dict):
        return ", ".join(FACT.format(_named(str(name)), _said(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_said(one) for one in value)
    return "–" if value in ("", None) else str(value)
