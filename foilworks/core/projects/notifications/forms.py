"""The filters of the notifications, and the form of what a person chooses about them."""

from collections.abc import Collection, Mapping, Sequence

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.models import MailFrequency, NotificationSettings, Project
from foilworks.core.projects.notifications.kinds import Channel, channel_of, notification_kinds

# More projects do not fit beside each other: they are folded.
MAX_CHIPS = 4


class NotificationFilter(Filters):
    """What filters a person's notifications."""

    unread = forms.BooleanField(label=_("Unread only"), required=False)
    project = forms.ChoiceField(label=_("Project"), required=False)

    def __init__(self, data: Mapping[str, str], projects: Sequence[Project], *, is_open: bool = False) -> None:
        super().__init__(data, is_open=is_open)
        choices = [("", _("All projects")), *((project.slug, project.name) for project in projects)]
        self.fields["project"].choices = choices
        self.chips = ("unread",)
        if len(projects) <= 1:
            del self.fields["project"]
        elif len(projects) <= MAX_CHIPS:
            self.fields["project"].widget = forms.RadioSelect(choices=choices)
            self.chips = ("unread", "project")


class NotificationSettingsForm(forms.Form):
    mail = forms.ChoiceField(
        label=_("Email"),
        choices=MailFrequency.choices,
        widget=forms.RadioSelect,
        help_text=_("An email lists what is new and unread. Each has a link that ends them."),
    )

    def __init__(
        self, stored: NotificationSettings, roles: Collection[str], data: Mapping[str, str] | None = None
    ) -> None:
        """`roles`: what the person holds in any project; kinds for other roles are not asked."""
        kinds = {slug: kind for slug, kind in notification_kinds().items() if set(kind.roles) & set(roles)}
        channels = {slug: channel_of(stored.channels, slug) for slug in kinds}
        super().__init__(data, initial={"mail": stored.mail, **channels})
        self.kinds = tuple(kinds)
        for slug, kind in kinds.items():
            self.fields[slug] = forms.ChoiceField(label=kind.label, choices=Channel.choices)

    def kind_fields(self) -> list[BoundField]:
        return [self[slug] for slug in self.kinds]
