"""Link a main subtest to its proficiency subtest, and its items to their proficiency items."""

from django.utils.translation import gettext as _

from annotation.actions.workflow.groups import link_main_items
from annotation.errors import AnnotationError
from annotation.transactions import lock_rows, run_in_transaction, serialize_writes
from foilworks.core.corpus.models import Item, Subtest, Video
from foilworks.core.corpus.rules.states import WITHDRAWN
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User


def link_proficiency(person: User | None, main: Subtest, proficiency: Subtest) -> int:
    """Link two subtests of a project; return the number of main items linked to an item of the same video.

    Items that have a proficiency item keep it. `person` None is the operator. AccessDenied without the researcher's
    role; AnnotationError: wrong kinds or projects, or the main subtest is already linked to another one.
    """
    if person is not None:
        require_role(person, main.project, Role.RESEARCHER)
    if main.project_id != proficiency.project_id:
        raise AnnotationError(_("Choose two subtests of one project."))
    if (main.kind, proficiency.kind) != (Subtest.Kind.MAIN, Subtest.Kind.PROFICIENCY):
        raise AnnotationError(
            _("'%(main)s' is %(kind)s and '%(other)s' is %(other_kind)s. Link a main subtest to a proficiency subtest.")
            % {
                "main": main.name,
                "kind": main.get_kind_display(),
                "other": proficiency.name,
                "other_kind": proficiency.get_kind_display(),
            }
        )
    return run_in_transaction(lambda: _link(person, main, proficiency))


def _link(person: User | None, unlocked_subtest: Subtest, proficiency: Subtest) -> int:
    serialize_writes(unlocked_subtest.project)
    main = Subtest.objects.select_for_update(of=("self",), no_key=True).get(pk=unlocked_subtest.pk)
    if main.proficiency_subtest_id not in (None, proficiency.pk):
        raise AnnotationError(
            _("'%(main)s' is already linked to '%(other)s'. Create another main subtest.")
            % {"main": main.name, "other": main.proficiency_subtest.name}
        )
    main.proficiency_subtest = proficiency
    main.save(update_fields=["proficiency_subtest"])
    paired = Item.objects.filter(subtest=main, proficiency_item__isnull=False)
    before = paired.count()
    simpler = Item.objects.filter(subtest=proficiency).exclude(state__in=WITHDRAWN)
    # One transaction at a time pairs the items of a video, as in assembly.
    lock_rows(Video.objects.filter(pk__in=simpler.values("video")))
    _link_same_captions(main, proficiency)
    for item in simpler.order_by("pk"):
        link_main_items(item)
    n_linked = paired.count() - before
    details = {"proficiency": proficiency.name, "items": n_linked}
    audit.record(audit.event(main.project, person, "link_proficiency", main, **details))
    return n_linked


def _link_same_captions(main: Subtest, proficiency: Subtest) -> None:
    """Link items about the same caption, before any others of the video."""
    by_caption: dict[int, Item] = {}
    for item in Item.objects.filter(subtest=proficiency).exclude(state__in=WITHDRAWN).order_by("-pk"):
        by_caption[item.caption_id] = item
    unlinked_items = Item.objects.filter(subtest=main, proficiency_item=None, caption__in=by_caption)
    items = list(unlinked_items.exclude(state__in=WITHDRAWN).order_by("pk"))
    for item in items:
        item.proficiency_item = by_caption[item.caption_id]
    Item.objects.bulk_update(items, ["proficiency_item"], batch_size=500)
