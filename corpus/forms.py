"""Forms of the corpus pages."""

from urllib.parse import urlencode

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from corpus.models import MediaState, Split, Video


class VideoFilter(forms.Form):
    """What narrows the list; a value that is no choice narrows nothing."""

    q = forms.CharField(label=_("Find"), required=False, max_length=200)
    media = forms.ChoiceField(
        label=_("File"), required=False, choices=[("", _("any state")), *MediaState.choices]
    )
    split = forms.ChoiceField(
        label=_("Split"), required=False, choices=[("", _("any split")), *[c for c in Split.choices if c[0]]]
    )

    def chosen(self) -> dict[str, str]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}

    def narrow(self, videos: QuerySet[Video]) -> QuerySet[Video]:
        chosen = self.chosen()
        if text := chosen.get("q"):
            videos = videos.filter(Q(key__icontains=text) | Q(source_id__icontains=text) | Q(captions__text__icontains=text))
        if state := chosen.get("media"):
            videos = videos.filter(media_state=state)
        if split := chosen.get("split"):
            videos = videos.filter(split=split)
        return videos.distinct()

    def query(self) -> str:
        """The chosen values for links of other pages: empty, or ending in `&`."""
        chosen = self.chosen()
        return f"{urlencode(chosen)}&" if chosen else ""
