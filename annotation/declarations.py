"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import ActorName, RowKind, RowPage
from foilworks.core.projects.limits.visitor_page import VisitorPage
from foilworks.core.projects.notifications.kind import ADJUDICATORS, RESEARCHERS, Kind
from foilworks.core.projects.roles import Role

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "annotation.estimate_skill": "annotation.jobs:estimate_skill",
    "annotation.extract_nouns": "annotation.jobs:nouns_of_captions",
    "annotation.extract_frames": "annotation.jobs:pictures_of_frames",
}
ACCEPT_REPAIR = "accept_repair"
# Work on single items; the trail has many such rows for each change of a setting.
WORK_SENTENCES: dict[str, Promise] = {
    "accept": _("accepted a foil"),
    "add_votes": _("asked for more votes"),
    "adjudicate": _("adjudicated an item"),
    "assemble": _("created an item from accepted foils"),
    "claim": _("started to edit a foil"),
    "end_lease": _("ended the reservation of a task"),
    "finish_attempt": _("finished an exercise"),
    "label_pair": _("labelled a pair"),
    "lease": _("reserved a task"),
    "queue": _("queued a foil"),
    "recount": _("counted the votes of an item again"),
    "propose": _("proposed a foil by another method"),
    "reopen": _("reopened a foil"),
    "replace_vote": _("asked for a vote in place of an excluded one"),
    "send_back": _("sent a foil back"),
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
SENTENCES: dict[str, Promise] = {
    "add_comment": _("wrote a comment"),
    "add_gold_pair": _("added a gold pair"),
    "add_practice_caption": _("added a practice caption"),
    "assign": _("assigned tasks"),
    "bring_votes_back": _("reinstated the votes of a validator"),
    "check_completion_code": _("checked a completion code"),
    "class_object": _("classified an object"),
    "collect_votes": _("asked for votes on published items"),
    "end_assignment": _("ended an assignment"),
    "end_place": _("ended a place in a crowd study"),
    "enter_study": _("entered a crowd study"),
    "estimate_skill": _("estimated the skill of validators"),
    "import": _("imported a foil"),
    "import_objects": _("imported objects"),
    "link_proficiency": _("linked a proficiency subtest"),
    "open_baseline": _("started a human baseline"),
    "open_unseen": _("started choices without the clip"),
    "open_crowd_study": _("opened a crowd study"),
    "make_return_link": _("made a return link to a crowd study"),
    "open_object_check": _("started an object check"),
    "pause": _("paused a validator"),
    "publish_guideline": _("published a guideline"),
    "reenter_study": _("entered a crowd study again"),
    "reopen_comment": _("reopened a comment"),
    "requeue": _("returned an item to editing"),
    ACCEPT_REPAIR: _("accepted a proposal that makes an item fair"),
    "undo_accept_repair": _("undid a proposal that makes an item fair"),
    "resolve_comment": _("resolved a comment"),
    "resume": _("let a validator continue"),
    "retract": _("retracted an item"),
    "reject_place": _("rejected a submission"),
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
NOTIFICATIONS: dict[str, Kind] = {
    "returned": Kind(
        _("A reviewer returns your foil"),
        (Role.ANNOTATOR,),
        "annotation:queue",
        _("A reviewer returned a foil of yours. It is the first task in your edit queue."),
        ("stage",),
    ),
    "dispute": Kind(
        _("Disputed items wait for a decision"),
        ADJUDICATORS,
        "annotation:disputed_items",
        _("Disputed items wait for a decision"),
    ),
    "study_full": Kind(
        _("A crowd study is full"),
        RESEARCHERS,
        "annotation:crowd_study",
        _("All places of the crowd study %(name)s are taken"),
        ("study",),
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "annotation.edit": RowKind(_("edit")),
    "annotation.goldpair": RowKind(_("gold pair")),
    "annotation.guideline": RowKind(_("guideline")),
    "annotation.itemcomment": RowKind(_("comment")),
    "annotation.paypolicy": RowKind(_("pay rates")),
    "annotation.practicecaption": RowKind(_("practice caption")),
    "annotation.qualitypolicy": RowKind(_("rules of quality")),
    "annotation.review": RowKind(_("review")),
    "annotation.reviewpolicy": RowKind(_("review sampling")),
    "annotation.slot": RowKind(_("task"), ActorName.NONE),
    "annotation.standing": RowKind(_("validator")),
    "annotation.vote": RowKind(_("vote"), ActorName.PSEUDONYM),
}
ROW_PAGES: dict[str, RowPage] = {
    "projects.user": RowPage("annotation:member"),
}
# Actions of judges on rows of another table -> that table. The trail names their actors by pseudonym.
JUDGING_ACTIONS = {"vote": "corpus.item", "recount": "corpus.item"}
# What a page shows -> the name of its URL (foilworks.core.projects.pages).
PAGES = {
    "work": "annotation:work",
    "crowd place": "annotation:place",
}
VISITOR_PAGES = {"annotation:enter": VisitorPage()}
