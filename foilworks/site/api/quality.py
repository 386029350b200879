"""Keep work good: validators, pairs with a known answer, practice, guidelines, studies, object checks."""

from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Field, Schema

from annotation.access import subtest_for, validator_for
from annotation.actions.quality.gold_pairs import (
    add_gold_pairs,
    label_order,
    label_pair,
    withdraw_pair,
    withdraw_practice,
)
from annotation.actions.quality.qualification import add_practice_caption
from annotation.actions.quality.validators import exclude_votes, pause_validator, reinstate_votes, resume_validator
from annotation.actions.settings.work_settings import publish_guideline
from annotation.actions.studies import Sample, classify_object, open_choices, open_object_check
from annotation.forms import BaselineForm, ObjectCheckForm, PairsForm, PracticeForm
from annotation.models import GoldPair, Guideline, ObjectCheck, PracticeCaption, QualityPolicy, Stage, Use
from annotation.queries.cards import two_texts
from annotation.queries.guidelines import work_under_version
from annotation.queries.quality import LABELS_PER_EXPERT, experts, next_to_label, readiness, validators
from annotation.rules.guidelines import MAX_CHARACTERS, render_guideline
from foilworks.core.projects.errors import ProjectError
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Anything, Id, Line, Text, Word

GoldOut = shape_of(
    GoldPair, "id", "use", "subtest", "video", "caption_text", "foil_text", "answer", "explanation", "mismatched",
    "item", "withdrawn_at", "created_at",
)  # fmt: skip
PracticeOut = shape_of(
    PracticeCaption, "id", "subtest", "caption", "examples", "explanation", "withdrawn_at", "created_at"
)
GuidelineOut = shape_of(Guideline, "id", "stage", "subtest", "version", "text", "created_at")
ObjectCheckOut = shape_of(ObjectCheck, "id", "source", "seed", "overlap", "opened_at")


class NoteIn(Schema):
    note: Line = ""


class GuidelineIn(Schema):
    """`text`: Markdown. `subtest`: for a text of its own. `begun`: tasks under the last version, to replace it."""

    text: Text
    subtest: Id | None = None
    begun: int | None = Field(None, ge=0)


class ObjectErrorIn(Schema):
    """`object_index`: the position of the wrong object in the frame; `error_class`: as on the page."""

    frame: Id
    object_index: int = Field(ge=0)
    error_class: Word


def _validators(call: Call) -> list[dict[str, Any]]:
    names = (
        "state",
        "paused_at",
        "paused_why",
        "paused_note",
        "set_aside_at",
        "qualified_at",
        "gold_seen",
        "gold_right",
    )
    return [
        {
            "person": row.person.pk,
            "username": row.person.username,
            "gold": asdict(row.gold),
            **{name: getattr(row.standing, name, None) for name in names},
        }
        for row in validators(call.project)
    ]


def _move_validator(act: Any) -> Any:
    def moved(call: Call) -> dict[str, Any]:
        person = validator_for(call.person, call.project, call.pk)
        result = act(call.person, call.project, person.pk, call.body["note"])
        counted, surplus = result if isinstance(result, tuple) else (result if isinstance(result, int) else None, None)
        return {"person": person.pk, "votes": counted, "surplus": surplus}

    return moved


def _guideline(call: Call) -> Guideline:
    sent, project = call.body, call.project
    subtest = subtest_for(project, sent["subtest"]) if sent["subtest"] else None
    n_begun = work_under_version(project, call.stage, subtest)
    if n_begun and sent["begun"] != n_begun:
        raise ProjectError(
            f"{n_begun} tasks are done or held under the last version; send begun={n_begun} to publish a new one"
        )
    return publish_guideline(call.person, project, call.stage, sent["text"], subtest=subtest)


def _open_choices(call: Call) -> dict[str, Any]:
    return {"items": open_choices(call.person, call.project, call.stage, Sample(**call.values))}


def _open_check(call: Call) -> ObjectCheck:
    fields = call.values
    return open_object_check(call.person, call.project, fields.pop("source"), **fields)


def _classify(call: Call) -> dict[str, Any]:
    sent = call.body
    row = classify_object(call.person, call.project, sent["frame"], sent["object_index"], sent["error_class"])
    return {"id": row.pk}


def _withdraw_gold(call: Call) -> None:
    {"pair": withdraw_pair, "practice": withdraw_practice}[call.kind](call.person, call.project, call.pk)


class PreviewIn(Schema):
    text: Text = ""


class LabelIn(Schema):
    """`answer`: first, second, neither, both or cannot_tell, as shown."""

    pair: Id
    answer: Word


class LabelOut(Schema):
    """`pair` null: nothing is left to label."""

    pair: int | None
    texts: list[str]
    labelled: int
    wanted: int


def _use(call: Call) -> str:
    if call.use not in Use.values:
        raise Http404(_("Unknown use. Choose mixed, practice or qualification."))
    use: str = call.use
    return use


def _quality(call: Call) -> dict[str, Any]:
    return {
        "uses": {use: asdict(readiness(call.project, use)) for use in Use.values},
        "experts": [{"username": row.person.username, **asdict(row.share)} for row in experts(call.project)],
    }


def _next_label(call: Call) -> dict[str, Any]:
    policy, _made = QualityPolicy.objects.get_or_create(project=call.project)
    pair, done = next_to_label(call.person, policy)
    facts = {"labelled": done, "wanted": LABELS_PER_EXPERT}
    if pair is None:
        return {"pair": None, "texts": [], **facts}
    work = two_texts(pair.caption_text, pair.foil_text, label_order(policy, call.person, pair.pk))
    return {"pair": pair.pk, "texts": [work.first.text, work.second.text], **facts}


def _label(call: Call) -> dict[str, Any]:
    label_pair(call.person, call.project, call.body["pair"], call.body["answer"])
    return _next_label(call)


rows = Rows("quality")
rows.read(
    "/validators",
    "list_validators",
    "List the validators with gold, pauses and qualification.",
    _validators,
    list[Anything],
)
for verb, about, act in (
    ("pause", "Pause a validator and release their open tasks.", pause_validator),
    ("resume", "Resume a paused validator; their gold results restart from zero.", resume_validator),
    ("exclude", "Exclude all votes of a validator; verdicts are recomputed.", exclude_votes),
    ("reinstate", "Reinstate the excluded votes of a validator.", reinstate_votes),
):
    name = f"{verb}_validator" if verb in ("pause", "resume") else f"{verb}_votes"
    rows.write(f"/validators/{{int:pk}}/{verb}", name, about, _move_validator(act), body=NoteIn)
rows.listed(
    "/gold",
    "list_gold",
    "List the pairs with a known answer, by use.",
    lambda call: GoldPair.objects.filter(project=call.project, withdrawn_at=None),
    GoldOut,
    filters={"use": Use, "subtest": Id},
)
rows.write(
    "/gold/{slug:use}",
    "add_gold",
    "Draw pairs with a known answer for a use: mixed, practice or qualification.",
    lambda call: {"pairs": add_gold_pairs(call.person, call.project, call.use, **call.values)},
    form=PairsForm,
    make=lambda call, data: PairsForm(data, project=call.project, use=_use(call)),
    status=201,
)
rows.write(
    "/gold/{slug:kind}/{int:pk}",
    "withdraw_gold",
    "Withdraw a pair or a practice caption (kind pair or practice); it is not shown again.",
    _withdraw_gold,
    method="delete",
    status=204,
)
rows.listed(
    "/practice",
    "list_practice",
    "List the practice captions.",
    lambda call: PracticeCaption.objects.filter(project=call.project, withdrawn_at=None),
    PracticeOut,
)
rows.write(
    "/practice",
    "add_practice",
    "Add a practice caption with foils by an expert, one per line.",
    lambda call: add_practice_caption(call.person, call.project, **call.values),
    form=PracticeForm,
    make=lambda call, data: PracticeForm(data, project=call.project),
    shape=PracticeOut,
    status=201,
)
rows.read(
    "/quality", "read_quality", "Get the pairs of practice, gold and qualification, and experts' labels.", _quality
)
rows.read(
    "/quality/label", "read_label", "Get your next pair of the qualification to label, blind.", _next_label, LabelOut
)
rows.write(
    "/quality/label",
    "label_pair",
    "Label a pair of the qualification as an expert.",
    _label,
    body=LabelIn,
    shape=LabelOut,
)
rows.listed(
    "/guidelines",
    "list_guidelines",
    "List the versions of the guidelines.",
    lambda call: Guideline.objects.filter(project=call.project),
    GuidelineOut,
    filters={"stage": Stage, "subtest": Id},
)
rows.write(
    "/guidelines/preview",
    "preview_guideline",
    "Get the HTML of Markdown as the work pages show it.",
    lambda call: {"html": render_guideline(call.body["text"][:MAX_CHARACTERS])} if call.project else {},
    body=PreviewIn,
)
rows.write(
    "/guidelines/{slug:stage}",
    "publish_guideline",
    "Publish the next version of the guidelines of a stage.",
    _guideline,
    body=GuidelineIn,
    shape=GuidelineOut,
    status=201,
)
rows.write(
    "/studies/{slug:stage}",
    "open_choices",
    "Ask people for the true text of items, with the clip (baseline) or without it (unseen).",
    _open_choices,
    form=BaselineForm,
    make=lambda call, data: BaselineForm(data, project=call.project),
    status=201,
)
rows.listed(
    "/object-checks",
    "list_object_checks",
    "List the checks of objects in frames.",
    lambda call: ObjectCheck.objects.filter(project=call.project),
    ObjectCheckOut,
)
rows.write(
    "/object-checks",
    "open_object_check",
    "Draw frames whose objects people check.",
    _open_check,
    form=ObjectCheckForm,
    make=lambda call, data: ObjectCheckForm(data, project=call.project),
    shape=ObjectCheckOut,
    status=201,
)
rows.write(
    "/object-checks/errors",
    "classify_object",
    "Classify the error of a wrong object.",
    _classify,
    body=ObjectErrorIn,
)
