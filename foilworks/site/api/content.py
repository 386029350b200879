"""Read clips, captions and disputed items, and decide about them: warnings, takedowns, doubts, comments, repairs."""

from collections.abc import Callable, Collection
from typing import Any, Literal

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Field, Schema

from annotation.access import caption_for, commented_item_for
from annotation.actions.comments import add_comment, set_resolved
from annotation.actions.decisions.captions import confirm_caption, correct_caption, drop_caption
from annotation.actions.decisions.items import ROLES, adjudicate, take_down_video
from annotation.actions.decisions.repairs import exchange_foils, replace_foils, undo_repair
from annotation.actions.decisions.undo_decisions import undo_decision, undoable_decisions
from annotation.models import ItemComment
from annotation.queries.comments import comments_of
from annotation.queries.decision_queues import adjudicable, captions_in_doubt, judged_pairs
from annotation.rules.adjudication import settled_because
from evaluation.items.access import get_caption, get_item
from evaluation.items.bulk import MAX_ITEMS, move_items
from evaluation.items.history import history_of
from evaluation.items.item_details import candidates_of
from foilworks.core.corpus.access import get_video
from foilworks.core.corpus.actions.set_characters import movies_of, set_characters
from foilworks.core.corpus.actions.set_content_warning import set_content_warning
from foilworks.core.corpus.forms import CharactersForm
from foilworks.core.corpus.models import Caption, Item, Video
from foilworks.core.corpus.video_files.player import Piece
from foilworks.core.projects.models import AuditEvent, Project, Role, User
from foilworks.core.text.errors import ActionableError
from foilworks.site.api.cards import clip_address
from foilworks.site.api.items import Move
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Anything, Id, Line, Text, Word

VideoOut = shape_of(
    Video, "id", "key", "media_state", "media_error", "start_time", "end_time", "time_unit", "duration", "fps",
    "n_frames", "width", "height", "conversion", "split", "class_label", "category", "movie", "source_dataset",
    "source_id", "url", "sha256", "content_warning", "created_at",
)  # fmt: skip
CaptionOut = shape_of(Caption, "id", "key", "video", "text", "flagged_false", "doubt_settled")
CommentOut = shape_of(ItemComment, "id", "text", "created_at", "resolved_at")
RESEARCHER = Role.RESEARCHER


class WarningIn(Schema):
    warning: Word = ""


class ReasonIn(Schema):
    reason: Line = ""


class DecisionIn(Schema):
    """`decision`: valid or invalid. `reasons`: as on the page; `comment`: in your words."""

    decision: Word
    reasons: list[Word] = Field([], max_length=20)
    comment: Text = ""


class DoubtIn(Schema):
    """`text`: the corrected caption; `keep`: ids of foils that also fit it."""

    decision: Literal["correct", "confirm", "drop"]
    text: Text = ""
    keep: list[Id] = Field([], max_length=1000)
    reason: Text = ""


class CommentIn(Schema):
    text: Text


class ResolvedIn(Schema):
    resolved: bool = True


class MovesIn(Move):
    items: list[Id] = Field(min_length=1, max_length=MAX_ITEMS)


class UndoIn(Schema):
    """Ids of items and captions whose last decision is yours, and not older than ten minutes."""

    items: list[Id] = Field([], max_length=MAX_ITEMS)
    captions: list[Id] = Field([], max_length=MAX_ITEMS)


class RepairIn(Schema):
    """An exchange of foils with `partner`, a replacement of the foils of `item`, or the undo of a proposal `event`."""

    item: Id | None = None
    partner: Id | None = None
    event: Id | None = None


class DisputedOut(Schema):
    id: int
    key: str
    state: str
    subtest: str
    caption: str
    foils: list[str]


class DisputedDetail(DisputedOut):
    """`clip`: request it with the same token."""

    clip: str
    pairs: list[Anything]


class DoneOut(Schema):
    """`refused`: {key: why} of rows that did not change."""

    done: list[int]
    refused: dict[str, str]


def _item(call: Call) -> dict[str, Any]:
    item, project = call.row, call.project
    candidates = candidates_of(item)
    events = [
        {**vars(event), "words": str(event.words), "reason": str(event.reason)}
        for event in history_of(project, item, candidates)
    ]
    return {"history": events}


def _caption(call: Call) -> Caption:
    caption = caption_for(call.person, call.pk, RESEARCHER)
    if caption.video.project_id != call.project.pk:
        raise Http404(_("Caption not found."))
    return caption


def _doubt(call: Call) -> Caption:
    _caption(call)
    sent, person = call.body, call.person
    decisions: dict[str, Callable[[], Caption]] = {
        "correct": lambda: correct_caption(person, call.pk, sent["text"], keep=sent["keep"], reason=sent["reason"]),
        "confirm": lambda: confirm_caption(person, call.pk, sent["reason"]),
        "drop": lambda: drop_caption(person, call.pk, sent["reason"]),
    }
    return decisions[sent["decision"]]()


def _disputed(call: Call) -> Item:
    item = adjudicable(call.person, call.entered(*ROLES)).filter(pk=call.pk).first()
    if item is None:
        raise Http404(_("There is no such disputed item that you may decide."))
    return item


def _facts(item: Item) -> dict[str, Any]:
    """Return what the page shows of a disputed item: not which video it is."""
    foils = [foil.text for foil in item.foils.all()]
    facts = {"id": item.pk, "key": item.key, "state": item.state, "subtest": item.subtest.name}
    return {**facts, "caption": item.caption.text, "foils": foils}


def _disputed_out(call: Call) -> dict[str, Any]:
    item = _disputed(call)
    _token, clip = clip_address(call.slug, call.person, item.video, Piece.ITEM, item.pk)
    pairs = [
        {
            "foil": pair.foil and pair.foil.text,
            "votes": [{"choice": count.choice, "who": count.who} for count in pair.ballots],
        }
        for pair in judged_pairs(call.entered(*ROLES), item)
    ]
    return {**_facts(item), "clip": clip, "pairs": pairs}


def _decide(call: Call) -> dict[str, Any]:
    item = _disputed(call)
    adjudicate(call.person, item.pk, call.body["decision"], settled_because(call.body["reasons"], call.body["comment"]))
    return _facts(Item.objects.select_related("subtest", "caption").get(pk=item.pk))


def _move_items(call: Call) -> dict[str, Any]:
    ids = map(str, call.body["items"])
    moved = move_items(call.person, call.project, call.body["move"], ids, call.body["reason"])
    return {"done": moved.done, "refused": dict(moved.refused)}


def _undo(call: Call) -> dict[str, Any]:
    project = call.entered(*ROLES)
    asked: tuple[tuple[type[Item] | type[Caption], Collection[int]], ...] = (
        (Item, _own(Item.objects.filter(project=project), call.body["items"])),
        (Caption, _own(Caption.objects.filter(video__project=project), call.body["captions"])),
    )
    done: list[int] = []
    refused: dict[str, str] = {}
    for event in (event for model, ids in asked for event in undoable_decisions(call.person, model, ids)):
        try:
            undo_decision(call.person, event.pk)
        except ActionableError as error:
            refused[event.target_id] = str(error)
        else:
            done.append(int(event.target_id))
    return {"done": done, "refused": refused}


def _own(rows: Any, ids: Collection[int]) -> list[int]:
    return list(rows.filter(pk__in=ids).values_list("pk", flat=True))


def _commented(call: Call) -> tuple[User, Project, Item]:
    project = call.entered(RESEARCHER, Role.REVIEWER)
    return call.person, project, commented_item_for(call.person, project, call.pk)


def _comment(call: Call) -> ItemComment:
    person, project, item = _commented(call)
    return add_comment(person, project, item.pk, call.body["text"])


def _resolve(call: Call) -> ItemComment:
    person, project, item = _commented(call)
    set_resolved(person, project, item.pk, call.comment, resolved=call.body["resolved"])
    return ItemComment.objects.get(item=item, pk=call.comment)


def _repair(call: Call) -> dict[str, Any]:
    sent, project = call.body, call.project
    if sent["event"]:
        if not AuditEvent.objects.filter(pk=sent["event"], project=project).exists():
            raise Http404(_("Proposal not found."))
        undo_repair(call.person, sent["event"])
        return {"candidates": []}
    item = get_item(call.person, call.slug, sent["item"] or 0)
    if sent["partner"]:
        candidates = exchange_foils(call.person, item.pk, get_item(call.person, call.slug, sent["partner"]).pk)
    else:
        candidates = replace_foils(call.person, item.pk)
    return {"candidates": [candidate.pk for candidate in candidates]}


def _characters(call: Call) -> dict[str, Any]:
    return dict(set_characters(call.person, call.project, call.form.by_movie))


rows = Rows("content")
# For reviewers, too.
shared = Rows("content", checks_role=False)
rows.listed(
    "/videos",
    "list_videos",
    "List the clips of the project.",
    lambda call: Video.objects.filter(project=call.project),
    VideoOut,
    orders=("key", "-key", "id", "-id"),
    search=("key", "source_id"),
    filters={"media_state": Word, "split": Word, "source_dataset": Word, "movie": Word},
)
rows.read(
    "/videos/{int:pk}",
    "read_video",
    "Get one clip.",
    lambda call: get_video(call.person, call.slug, call.pk, RESEARCHER),
    VideoOut,
)
rows.write(
    "/videos/{int:pk}/warning",
    "set_warning",
    "Set the content warning that people see before the clip; empty: none.",
    lambda call: set_content_warning(
        call.person, get_video(call.person, call.slug, call.pk, RESEARCHER), call.body["warning"]
    ),
    body=WarningIn,
    shape=VideoOut,
)
rows.write(
    "/videos/{int:pk}/takedown",
    "take_down",
    "Take down a clip and its copies: new exports leave out its items, and releases withhold them.",
    lambda call: {"clips": len(take_down_video(call.person, call.slug, call.pk, call.body["reason"]).clips)},
    body=ReasonIn,
)
rows.read(
    "/characters",
    "list_movies",
    "List the movies of the project with the number of their captions and characters.",
    lambda call: [vars(movie) for movie in movies_of(call.project)],
    list[Anything],
)
rows.write(
    "/characters",
    "set_characters",
    "Add the characters of movies to their captions: `text` is the list as tab-separated text.",
    _characters,
    form=CharactersForm,
    make=lambda _call, data: CharactersForm(data),
)
rows.listed(
    "/captions",
    "list_captions",
    "List the captions of the project.",
    lambda call: Caption.objects.filter(video__project=call.project),
    CaptionOut,
    orders=("id", "-id"),
    search=("text", "key"),
    filters={"video": Id, "flagged_false": bool, "doubt_settled": Word},
)
rows.read("/captions/{int:pk}", "read_caption", "Get one caption.", lambda call: call.row, CaptionOut, get=get_caption)
rows.listed(
    "/captions/doubted",
    "list_doubted_captions",
    "List captions that most validators of an item found untrue of the clip and that await a decision.",
    lambda call: captions_in_doubt(call.project),
    CaptionOut,
    orders=("id", "-id"),
)
rows.write(
    "/captions/{int:pk}/doubt",
    "decide_caption",
    "Decide on a caption in doubt: correct or confirm it, or drop it with its items.",
    _doubt,
    body=DoubtIn,
    shape=CaptionOut,
)
rows.read("/items/{int:pk}/history", "read_history", "Get the history of one item.", _item, get=get_item)
rows.write(
    "/items/moves",
    "move_items",
    "Move several items at once; those that cannot move are skipped.",
    _move_items,
    body=MovesIn,
    shape=DoneOut,
)
shared.listed(
    "/disputed",
    "list_disputed",
    "List the disputed items that you may decide.",
    lambda call: (
        adjudicable(call.person, call.entered(*ROLES)).select_related("subtest", "caption").prefetch_related("foils")
    ),
    DisputedOut,
    orders=("id", "-id"),
    out=_facts,
)
shared.read(
    "/disputed/{int:pk}", "read_disputed", "Get one disputed item with its votes.", _disputed_out, DisputedDetail
)
shared.write(
    "/disputed/{int:pk}",
    "decide_disputed",
    "Decide on a disputed item.",
    _decide,
    body=DecisionIn,
    shape=DisputedOut,
)
shared.write(
    "/decisions/undo",
    "undo_decisions",
    "Undo your decisions about items and captions, for ten minutes.",
    _undo,
    body=UndoIn,
    shape=DoneOut,
)
shared.read(
    "/items/{int:pk}/comments",
    "list_comments",
    "List the comments on an item, unresolved ones first.",
    lambda call: comments_of(call.person, call.entered(RESEARCHER, Role.REVIEWER), _commented(call)[2]),
    list[CommentOut],
)
shared.write(
    "/items/{int:pk}/comments",
    "add_comment",
    "Comment on an item.",
    _comment,
    body=CommentIn,
    shape=CommentOut,
    status=201,
)
shared.write(
    "/items/{int:pk}/comments/{int:comment}",
    "resolve_comment",
    "Mark a comment as resolved, or reopen it.",
    _resolve,
    method="patch",
    body=ResolvedIn,
    shape=CommentOut,
)
rows.write(
    "/reports/fair/repair",
    "repair_item",
    "Accept a proposal of the report `fair`: exchange or replace foils; or undo one.",
    _repair,
    body=RepairIn,
)
