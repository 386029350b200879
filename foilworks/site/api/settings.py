"""Read and change the settings of a project, each section with the form of its page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from ninja import Schema
from pydantic import create_model

from annotation.access import subtest_for
from annotation.actions.quality.recounts import save_quality_policy
from annotation.actions.settings.published_labels import collect_votes
from annotation.actions.settings.work_settings import set_pay, set_review_sampling, set_vote_rule, set_work_rules
from annotation.forms import CollectVotesForm, PayForm, PolicyForm, ReviewSharesForm
from annotation.models import QualityPolicy
from annotation.queries import paid_work
from annotation.queries.work_rules import annotator_shares, policy_of, why_scope_fixed
from annotation.rules.voting import rule_in_force
from annotation.settings_forms import WorkRulesForm
from evaluation.blind.actions.set_limits import set_blind_limits
from evaluation.blind.forms import BarsForm
from evaluation.utd.actions.biases import set_shortcut_bar
from evaluation.utd.forms import ShortcutBarForm
from evaluation.utd.models import ShortcutBar
from foilworks.core.corpus.forms import VoteRuleForm
from foilworks.core.projects.actions import lifecycle
from foilworks.core.projects.forms.settings import AboutForm, DeleteForm
from foilworks.core.projects.models import Project, User
from foilworks.site.api.page_forms import FormBody, body_of, filled, values_of
from foilworks.site.api.projects import ProjectOut, project_out
from foilworks.site.api.rows import Call, Rows
from foilworks.site.api.shapes import Text, Word
from foilworks.site.api.subtests import SubtestOut, subtest_out
from foilworks.site.dashboard.actions.target import set_target
from foilworks.site.dashboard.forms import TargetForm
from foilworks.site.dashboard.models import StudyTarget
from foilworks.site.documents.actions.documents import TERMS, answer_datasheet, describe_publication, sources_in
from foilworks.site.documents.forms import PublicationForm, TermsForm
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence
from foilworks.site.publishing.sheet import own_answers


@dataclass(frozen=True)
class Section:
    """One page's form: how it is made of (project, *data), and the action that stores a valid one.

    `is_open`: some of its fields depend on rows of the project.
    """

    form: type[forms.BaseForm]
    make: Callable[..., Any]
    save: Callable[[User, Project, Any], object]
    is_open: bool = False


def _pay_form(project: Project, data: Any) -> PayForm:
    return PayForm(data, policy=paid_work.policy_of(project), rates=paid_work.rates_of(project))


def _quality_form(project: Project, data: Any) -> PolicyForm:
    policy = QualityPolicy.objects.filter(project=project).first() or QualityPolicy(project=project)
    return PolicyForm(data, instance=policy, initial={"judge_caption_once": project.judge_caption_once})


def _shortcuts_form(project: Project, data: Any) -> ShortcutBarForm:
    bar = ShortcutBar.objects.filter(project=project).first()
    return ShortcutBarForm(data, initial={"share": bar and bar.share})


def _publication_form(project: Project, data: Any) -> PublicationForm:
    stored = PublicationFacts.objects.filter(project=project).first()
    return PublicationForm(data, instance=stored or PublicationFacts(project=project))


def _terms(project: Project) -> dict[str, dict[str, Any]]:
    """Return the stored terms of each source of the project's videos, empty ones where none are stored."""
    stored = {row.source_dataset: row for row in SourceLicence.objects.filter(project=project)}
    return {
        name: {field: getattr(stored.get(name, SourceLicence()), field) for field in TERMS}
        for name in sources_in(project)
    }


def _save_publication(person: User, project: Project, form: PublicationForm) -> None:
    sources = [{"source_dataset": name, **terms} for name, terms in _terms(project).items()]
    describe_publication(person, project, form.cleaned_data, sources)


SECTIONS: dict[str, Section] = {
    "about": Section(
        AboutForm,
        lambda project, data: AboutForm(data, instance=Project.objects.get(pk=project.pk)),
        lambda person, project, form: lifecycle.describe_project(person, project, **form.cleaned_data),
    ),
    "rules": Section(
        WorkRulesForm,
        lambda project, data: WorkRulesForm(data, project=project, why_fixed=why_scope_fixed(project)),
        lambda person, project, form: set_work_rules(person, project, form.rules()),
    ),
    "reviewing": Section(
        ReviewSharesForm,
        lambda project, data: ReviewSharesForm(data, policy=policy_of(project), shares=annotator_shares(project)),
        lambda person, project, form: set_review_sampling(person, project, **form.shares()),
        is_open=True,
    ),
    "pay": Section(
        PayForm,
        _pay_form,
        lambda person, project, form: set_pay(person, project, **form.pay_settings()),
        is_open=True,
    ),
    "quality": Section(
        PolicyForm,
        _quality_form,
        lambda person, project, form: save_quality_policy(person, project, **form.cleaned_data),
    ),
    "blind": Section(
        BarsForm,
        lambda project, data: BarsForm(project, data),
        lambda person, project, form: set_blind_limits(person, project, form.cleaned_data["bar"], form.of_subtests()),
        is_open=True,
    ),
    "shortcuts": Section(
        ShortcutBarForm,
        _shortcuts_form,
        lambda person, project, form: set_shortcut_bar(person, project, form.cleaned_data["share"]),
    ),
    "target": Section(
        TargetForm,
        lambda project, data: TargetForm(data, StudyTarget.objects.filter(project=project).first()),
        lambda person, project, form: set_target(person, project, **form.cleaned_data),
    ),
    "publication": Section(PublicationForm, _publication_form, _save_publication),
}
Settings = create_model(
    "Settings",
    __base__=FormBody,
    **{
        name: (body_of(section.form, f"{name.capitalize()}Settings", is_open=section.is_open) | None, None)
        for name, section in SECTIONS.items()
    },
)


class SourceTerms(Schema):
    licence: Word = ""
    url: Word = ""
    notes: Text = ""
    may_show: bool = False


class SourcesIn(Schema):
    """Terms by name of the source, as `settings/sources` lists them."""

    sources: dict[Word, SourceTerms]


class DatasheetIn(Schema):
    """Answers by question; an empty one is deleted."""

    answers: dict[Word, Text]


def _settings(call: Call) -> dict[str, Any]:
    return {name: values_of(section.make(call.project, None)) for name, section in SECTIONS.items()}


def _change_settings(call: Call) -> dict[str, Any]:
    with transaction.atomic():
        for name, sent in call.body.items():
            section = SECTIONS[name]
            form = filled(lambda data, section=section: section.make(call.project, data), sent or {}, where=name)
            section.save(call.person, call.project, form)
    # The rows that the forms were made of have changed.
    call.__dict__.pop("project", None)
    return _settings(call)


def _change_sources(call: Call) -> dict[str, Any]:
    facts = values_of(_publication_form(call.project, None))
    stored = _terms(call.project)
    forms_by_source = {
        name: filled(lambda data, name=name: TermsForm(name, data), {**stored.get(name, {}), **terms}, where=name)
        for name, terms in call.body["sources"].items()
    }
    changed = stored | {name: form.cleaned_data for name, form in forms_by_source.items()}
    describe_publication(
        call.person, call.project, facts, [{"source_dataset": name, **terms} for name, terms in changed.items()]
    )
    return {"sources": _terms(call.project)}


def _datasheet(call: Call) -> dict[str, Any]:
    release, own = own_answers(call.project)
    answers = dict(DatasheetAnswer.objects.filter(project=call.project).values_list("question", "text"))
    return {"answers": answers, "computed": own, "release": release and release.pk}


def _change_datasheet(call: Call) -> dict[str, Any]:
    answer_datasheet(call.person, call.project, call.body["answers"])
    return _datasheet(call)


def _change_votes(call: Call) -> SubtestOut:
    return subtest_out(
        set_vote_rule(call.person, subtest_for(call.project, call.pk), rule_in_force(call.form.instance))
    )


def _archive(call: Call) -> ProjectOut:
    lifecycle.set_archived(call.person, call.project, archived=call.body["archived"])
    return project_out(call.request, call.entered())


class ArchivedIn(Schema):
    archived: bool = True


rows = Rows("settings")
rows.read("/settings", "read_settings", "Get all settings, by section of their page.", _settings)
rows.write(
    "/settings",
    "change_settings",
    "Change settings: only the sections and fields that are sent. All changes are stored, or none.",
    _change_settings,
    method="patch",
    body=Settings,
)
rows.read(
    "/settings/sources",
    "read_sources",
    "Get the licence terms of each source of videos.",
    lambda call: {"sources": _terms(call.project)},
)
rows.write(
    "/settings/sources",
    "change_sources",
    "Change the licence terms of sources.",
    _change_sources,
    method="patch",
    body=SourcesIn,
)
rows.read("/datasheet", "read_datasheet", "Get the answers of the datasheet: written and computed ones.", _datasheet)
rows.write(
    "/datasheet",
    "change_datasheet",
    "Answer questions of the datasheet.",
    _change_datasheet,
    method="patch",
    body=DatasheetIn,
)
rows.write(
    "/subtests/{int:pk}",
    "change_vote_rule",
    "Change how many votes make an item of the subtest valid, until somebody has seen a pair.",
    _change_votes,
    method="patch",
    form=VoteRuleForm,
    make=lambda call, data: VoteRuleForm(data, instance=subtest_for(call.project, call.pk)),
    shape=SubtestOut,
)
rows.write(
    "/subtests/{int:pk}/collect",
    "collect_votes",
    "Collect votes on items that were imported as published.",
    lambda call: {
        "items": collect_votes(call.person, subtest_for(call.project, call.pk), size=call.form.cleaned_data["sample"])
    },
    form=CollectVotesForm,
)
rows.write(
    "/archive", "archive_project", "Archive the project, or unarchive it.", _archive, body=ArchivedIn, shape=ProjectOut
)
rows.write(
    "/delete",
    "delete_project",
    "Delete the project; `typed_name` is its name. It can be restored for a week.",
    lambda call: lifecycle.delete_project(call.person, call.project, call.form.cleaned_data["typed_name"]),
    form=DeleteForm,
    status=204,
)
# Nobody has a role in a deleted project.
deleted = Rows("settings", checks_role=False)
deleted.write(
    "/restore",
    "restore_project",
    "Restore a deleted project.",
    lambda call: project_out(call.request, lifecycle.restore_project(call.person, call.slug)),
    shape=ProjectOut,
)
