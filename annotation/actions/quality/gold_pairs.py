"""A researcher makes pairs with a known answer from valid items: unchanged, or with another video.

An expert labels a pair of the qualification, blind: the baseline for people's results.

A researcher withdraws a pair or a practice caption: it is no longer asked, and its answers stay.
"""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import pair_for, practice_for
from annotation.errors import AnnotationError
from annotation.models import ExpertLabel, GoldPair, KnownAnswer, PracticeCaption, QualityPolicy, Use
from annotation.queries.quality import free_items
from annotation.rules.gold_serving import gold_caption_first
from annotation.rules.ordering import seeded_share
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.transactions import run_in_transaction
from foilworks.core.corpus.models import Foil, Item, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.access import require_role, secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

MAX_PAIRS_AT_ONCE = 500


def add_gold_pairs(
    actor: User,
    project: Project,
    use: str,
    subtest: Subtest,
    number: int,
    *,
    mismatched: bool = False,
    seed: int = 0,
    explanation: str = "",
) -> int:
    """Make up to `number` pairs of the subtest's valid items, drawn by the seed; return how many.

    Only the caption is true of the video; in a mismatched pair, with another item's video, neither text is. The
    qualification takes one subtest per test. For a proficiency subtest, people see the name of its main subtest.
    AnnotationError if no item remains, or for a subtest of another project.
    """
    require_role(actor, project, Role.RESEARCHER)
    if subtest.project_id != project.pk or use not in Use.values:
        raise AnnotationError(_("Choose a subtest of this project and a use."))
    if not 1 <= number <= MAX_PAIRS_AT_ONCE:
        raise AnnotationError(_("Ask for 1 to %(most)s pairs.") % {"most": MAX_PAIRS_AT_ONCE})
    return run_in_transaction(lambda: _add(actor, project, use, subtest, number, mismatched, seed, explanation.strip()))


def _add(
    actor: User, project: Project, use: str, subtest: Subtest, number: int, mismatched: bool, seed: int, why: str
) -> int:
    if use == Use.QUALIFICATION and not mismatched:
        _check_one_subtest_per_test(project, subtest)
    # The researcher's seed is usually 0: without a secret, the source code would reveal which items become gold.
    secret = secret_seed("gold", project.pk)
    drawn_foils = sorted(_sources(subtest), key=lambda foil: seeded_share(secret, seed, foil.pk))
    pairs = _mismatched(drawn_foils, number) if mismatched else [(foil, foil.item) for foil in drawn_foils[:number]]
    shown_as = subtest.mains.order_by("pk").first() or subtest
    gold_pairs = [
        GoldPair(
            project=project,
            use=use,
            subtest=shown_as,
            video_id=clip_item.video_id,
            caption_text=foil.item.caption.text,
            foil_text=foil.text,
            answer=KnownAnswer.NEITHER if mismatched else KnownAnswer.CAPTION,
            explanation=why,
            mismatched=mismatched,
            item=foil.item,
            foil=foil,
            said_by=actor,
        )
        for foil, clip_item in pairs
    ]
    if not gold_pairs:
        raise AnnotationError(_("All valid items of this subtest are already gold pairs. Choose another subtest."))
    for pair in gold_pairs:
        pair.save()
    events = [audit.event(project, actor, "add_gold_pair", pair, to_state=use, seed=seed) for pair in gold_pairs]
    audit.record_many(events)
    return len(gold_pairs)


def _sources(subtest: Subtest) -> list[Foil]:
    """Return one valid foil of each item that has no pair yet."""
    foils = Foil.objects.filter(item__in=free_items(subtest), verdict=FoilVerdict.VALID)
    first: dict[int, Foil] = {}
    for foil in foils.select_related("item__caption", "item__video").order_by("item_id", "position"):
        first.setdefault(foil.item_id, foil)
    return list(first.values())


def _mismatched(drawn_foils: Sequence[Foil], number: int) -> list[tuple[Foil, Item]]:
    """Pair each foil with the next item in the draw from another source and with other texts."""
    pairs = []
    for index, foil in enumerate(drawn_foils):
        other_foils = [*drawn_foils[index + 1 :], *drawn_foils[:index]]
        partner = next((candidate.item for candidate in other_foils if _are_unrelated(foil.item, candidate.item)), None)
        if partner is not None:
            pairs.append((foil, partner))
    return pairs[:number]


def _are_unrelated(first: Item, second: Item) -> bool:
    same_source = first.video.source_id and first.video.source_id == second.video.source_id
    same_class = first.video.class_label and first.video.class_label == second.video.class_label
    same_text = first.caption.text_sha256 == second.caption.text_sha256
    return first.video_id != second.video_id and not (same_source or same_class or same_text)


def _check_one_subtest_per_test(project: Project, subtest: Subtest) -> None:
    """Return, for each test, the proficiency items of one subtest (ViLMA, Sec. B.1)."""
    if not subtest.test:
        return
    pairs_of_other_subtests = GoldPair.objects.filter(
        project=project, use=Use.QUALIFICATION, withdrawn_at=None, mismatched=False, item__subtest__test=subtest.test
    ).exclude(item__subtest=subtest)
    conflicting_pair = pairs_of_other_subtests.select_related("item__subtest").first()
    if conflicting_pair is not None:
        raise AnnotationError(
            _("The test %(test)s is in the qualification with its subtest %(subtest)s. Withdraw that pair first.")
            % {"test": subtest.test, "subtest": conflicting_pair.item.subtest.name}
        )


def label_order(policy: QualityPolicy, person: User, pair_id: int) -> bool:
    """Return whether this expert sees the caption first."""
    return gold_caption_first(policy.secret, person.pk, pair_id)


def label_pair(actor: User, project: Project, pair_id: int, answer: str | int) -> ExpertLabel:
    """Store the expert's first answer, as shown.

    AnnotationError for an unknown answer.
    """
    pair = pair_for(actor, project, pair_id)
    shown_answer = parse_answer(answer)
    if shown_answer is None:
        raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
    if pair.use != Use.QUALIFICATION:
        raise AnnotationError(_("Experts label the pairs of the qualification."))
    return run_in_transaction(lambda: _label(actor, project, pair_id, shown_answer))


def _label(actor: User, project: Project, pair_id: int, shown_answer: str) -> ExpertLabel:
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    first = label_order(policy, actor, pair_id)
    label, is_new = ExpertLabel.objects.get_or_create(
        pair_id=pair_id, person=actor, defaults={"caption_first": first, "choice": truth_of(shown_answer, first)}
    )
    if is_new:
        audit.record(audit.event(project, actor, "label_pair", label))
    return label


def withdraw_pair(actor: User, project: Project, pair_id: int, *, now: datetime | None = None) -> None:
    """Withdraw the pair. AnnotationError if it is already withdrawn."""
    row = pair_for(actor, project, pair_id)
    run_in_transaction(lambda: _withdraw(actor, project, row, now or timezone.now()))


def withdraw_practice(actor: User, project: Project, practice_id: int, *, now: datetime | None = None) -> None:
    """Withdraw the practice caption. AnnotationError if it is already withdrawn."""
    row = practice_for(actor, project, practice_id)
    run_in_transaction(lambda: _withdraw(actor, project, row, now or timezone.now()))


def _withdraw(actor: User, project: Project, row: GoldPair | PracticeCaption, now: datetime) -> None:
    if not type(row).objects.filter(pk=row.pk, withdrawn_at=None).update(withdrawn_at=now):
        raise AnnotationError(_("This pair was already withdrawn."))
    audit.record(audit.event(project, actor, "withdraw", row))
