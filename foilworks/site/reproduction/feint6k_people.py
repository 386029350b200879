"""Feint6K collected again by simulated people: captions edited, reviewed, and answered (Feint6K, Secs. 3.2 and 3.3).

The paper's 40 annotators write the published foils through the stages of the product, and answer the human baseline
with the paper's accuracy. So the numbers of people say that the way works, and nothing about real people.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import submit_choice
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Lease, Review, Stage
from annotation.rules import editing, reviewing
from annotation.rules.baseline import place_of
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.models import Release, Subtest
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import Project, Role
from foilworks.site.reproduction.shared_steps import done
from foilworks.site.reproduction.simulated_work import SECONDS, Crew, give_clips, key_of, mistaken
from generation.actions.runs import start_run
from generation.models import Candidate, CandidateGroup
from generation.recipes import find_recipe
from generation.run_request import FoilRequest

ANNOTATORS, REVIEWERS, FOILS = 40, 5, 5
RECIPE, SUBTEST = "feint6k-person", "actions"
# The paper gives neither the number of reviewers nor the share of returned annotations. This share of the clips is
# handed in with a text that is still true, and returned; at least one.
RETURNED = 0.04
STILL_TRUE = "in this video, {}"
WHY_OVERRIDE = "The foils are the published ones of Feint6K, which cannot be changed."


@dataclass(frozen=True)
class CollectedRelease:
    """A release made by simulated people; `returned`: annotations that reviewers sent back; `stand_ins`: grey clips."""

    release: Release
    returned: int
    stand_ins: int


def can_be_written(record: ItemRecord) -> bool:
    """Return whether a page accepts the texts of the record: no two of them are equal."""
    return not editing.errors(editing.check_texts(record.caption, record.foils))


def collect(
    project: Project, records: Mapping[str, ItemRecord], accuracy: float, work: Path, seed: int
) -> CollectedRelease:
    """Write, review and release the published foils of the records, by key of the video, and open the baseline.

    The project already has the captions of the records, in the test split.
    """
    crew = Crew(project, seed)
    crew.join(Role.RESEARCHER, 1)
    crew.join(Role.ANNOTATOR, ANNOTATORS, returned=RETURNED, baseline_mistakes=round(1 - accuracy, 3))
    crew.join(Role.REVIEWER, REVIEWERS)
    stand_ins = give_clips(project, work, records.keys())
    subtest = create_subtest(
        crew.owner,
        project,
        name=SUBTEST,
        changes=Subtest.Changes.ACTION,
        foils_per_item=FOILS,
        votes_wanted=0,
        votes_needed=0,
    )
    recipe = find_recipe(RECIPE)
    run = start_run(
        crew.owner,
        project,
        FoilRequest(
            subtest=subtest,
            method=recipe.method,
            recipe=f"{RECIPE}@{recipe.version}",
            params=recipe.params,
            filters=recipe.filters_in("corrected"),
            selection={"split": "test"},
            seed=seed,
        ),
    )
    done(run.job)
    _edit_and_review(crew, records, mistaken(list(records), max(RETURNED, 1 / len(records)), seed, "returned"))
    release = freeze_release(crew.owner, project, name="collected again", override=WHY_OVERRIDE)
    _answer(crew, release, mistaken(list(records), 1 - accuracy, seed, "baseline"))
    returned = Review.objects.filter(candidate__group__run=run, decision=reviewing.SEND_BACK).count()
    return CollectedRelease(release, returned, stand_ins)


def _edit_and_review(crew: Crew, records: Mapping[str, ItemRecord], slips: frozenset[str]) -> None:
    """Let annotators and reviewers take turns until no task remains: returned foils come back to their author."""
    has_acted = True
    while has_acted:
        has_acted = False
        for person, claimed in crew.work(Role.ANNOTATOR, Stage.EDIT):
            has_acted = True
            group = CandidateGroup.objects.select_related("caption__video").get(tasks__pk=claimed.task_id)
            texts, parents = _submitted_foils(group, records[group.caption.video.key], slips)
            submit_edit(person, claimed.token, key_of(claimed), texts, parents, seconds=SECONDS)
        for person, claimed in crew.work(Role.REVIEWER, Stage.REVIEW):
            has_acted = True
            candidate = Candidate.objects.select_related("group__caption").get(tasks__pk=claimed.task_id)
            if candidate.text == STILL_TRUE.format(candidate.group.caption.text):
                decision, reasons = reviewing.SEND_BACK, ["still_true"]
            else:
                decision, reasons = reviewing.ACCEPT, []
            submit_review(
                person, claimed.token, key_of(claimed), ReviewAnswer(decision, reasons=reasons), seconds=SECONDS
            )


def _submitted_foils(
    group: CandidateGroup, record: ItemRecord, slips: frozenset[str]
) -> tuple[list[str], list[int | None]]:
    """Return the published foils, the last one still true if the annotator slips; or a correction of a returned one."""
    returned = group.candidates.filter(state=CandidateState.EDITING).order_by("rank", "pk").first()
    if returned is not None:
        return [record.foils[-1]], [returned.pk]
    texts = list(record.foils)
    if record.video.key in slips:
        texts[-1] = STILL_TRUE.format(group.caption.text)
    return texts, [None] * len(texts)


def _answer(crew: Crew, release: Release, mistakes: frozenset[str]) -> None:
    """Choose the caption among six shuffled texts, or the first foil; nobody answers a clip that they worked on."""
    open_baseline(crew.owner, crew.project, release=release, seed=crew.seed)
    for person, claimed in crew.work(Role.ANNOTATOR, Stage.BASELINE):
        lease = Lease.objects.select_related("task__item__video").get(pk=claimed.lease_id)
        item = lease.task.item
        wrong = item.foils.order_by("position").values_list("pk", flat=True)[0] if item.video.key in mistakes else None
        position = place_of(lease.order_shown, wrong)
        submit_choice(person, claimed.token, key_of(claimed), position, seconds=SECONDS)
