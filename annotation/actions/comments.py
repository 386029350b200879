"""A researcher or reviewer comments on an item, and resolves or reopens a comment."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import commented_item_for
from annotation.errors import AnnotationError
from annotation.models import ItemComment
from annotation.models.comments import MAX_COMMENT
from foilworks.core.projects.access import or_404
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User


@transaction.atomic
def add_comment(person: User, project: Project, item_id: int, text: str) -> ItemComment:
    """Store a comment. AnnotationError for an empty or too long text; judges get AccessDenied."""
    item, text = commented_item_for(person, project, item_id), text.strip()
    if not text:
        raise AnnotationError(_("The comment is empty. Write a text first."))
    if len(text) > MAX_COMMENT:
        words = _("The comment has %(n)d characters. Shorten it to %(most)d.")
        raise AnnotationError(words % {"n": len(text), "most": MAX_COMMENT})
    comment = ItemComment.objects.create(item=item, author=person, text=text)
    audit.record(audit.event(project, person, "add_comment", comment, item=item.pk))
    return comment


@transaction.atomic
def set_resolved(person: User, project: Project, item_id: int, comment_id: int, *, resolved: bool) -> bool:
    """Mark the comment as resolved, or reopen it; return whether it changed. Http404 for another item's comment."""
    item = commented_item_for(person, project, item_id)
    comment = or_404(ItemComment.objects.filter(pk=comment_id, item=item).first(), _("Comment not found."))
    rows = ItemComment.objects.filter(pk=comment.pk, resolved_at__isnull=resolved)
    done = {"resolved_at": timezone.now(), "resolved_by": person}
    if not rows.update(**(done if resolved else {"resolved_at": None, "resolved_by": None})):
        return False
    words = ("open", "resolved") if resolved else ("resolved", "open")
    action = "resolve_comment" if resolved else "reopen_comment"
    audit.record(audit.event(project, person, action, comment, from_state=words[0], to_state=words[1], item=item.pk))
    return True
