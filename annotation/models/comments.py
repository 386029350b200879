"""Comments of researchers and reviewers on an item; judges never see them."""

from django.db import models
from django.db.models import Q

from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import User
from foilworks.core.projects.personal_data import PersonalData

MAX_COMMENT = 2000


class ItemComment(models.Model):
    """A comment; `resolved_at` is set once nothing is left to do about it."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="comments")
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    text = models.TextField(max_length=MAX_COMMENT)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    personal_data = PersonalData(free_text=("text",))

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["item"], condition=Q(resolved_at=None), name="unresolved_comments")]

    def __str__(self) -> str:
        return f"comment {self.pk} on item {self.item_id}"
