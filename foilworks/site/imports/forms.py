"""Define the form of an import: a file of records with its format, videos, or both."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.jsonl import NAMES_OF_CLIPS
from foilworks.core.corpus.import_formats.parsing.examples import EXAMPLES
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.corpus.import_formats.parsing.sheets import ENDINGS
from foilworks.core.corpus.import_formats.parsing.text_lines import decoded_head
from foilworks.core.corpus.import_formats.parsing.video_rows import KINETICS_COLUMNS, looks_like_line
from foilworks.core.corpus.import_formats.registry import ABOUT_ITEMS, BENCHMARK, BY_ENDING, CAPTIONS, IMPORTERS, VIDEOS
from foilworks.core.corpus.records import MAX_DATASET, MAX_LABEL
from foilworks.core.corpus.video_files.ingest import SUFFIXES
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.text.registry import Entry
from foilworks.library.hub import ADDRESS
from foilworks.site.imports.archives import SUFFIX, unpacked

# The choice without a format.
BY_NAME = "auto"
MEGABYTE = 1024 * 1024
# Kind of a format -> heading; other kinds are general.
KINDS = {
    "": _("General formats"),
    CAPTIONS: _("Captions of datasets"),
    VIDEOS: _("Videos without captions"),
    BENCHMARK: _("Published benchmarks"),
    ABOUT_ITEMS: _("Votes and descriptions"),
}


def formats_by_kind(formats: Mapping[str, Entry] = IMPORTERS) -> list[tuple[Any, dict[str, Entry]]]:
    """Return (heading, {slug: row}) of the formats, without empty groups."""
    groups: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
    for slug, entry in formats.items():
        groups[entry.kind if entry.kind in KINDS else ""][slug] = entry
    return [(KINDS[kind], rows) for kind, rows in groups.items() if rows]


def format_groups(formats: Mapping[str, Entry] = IMPORTERS) -> list[tuple[Any, list[tuple[str, Entry, str]]]]:
    """Return (heading, [(slug, row, first lines of an example)]) for the search box of formats."""
    groups = formats_by_kind(formats)
    return [(heading, [(slug, row, EXAMPLES.get(slug, "")) for slug, row in rows.items()]) for heading, rows in groups]


# Of records files: no video has such a name, so one among the videos can only be the records.
RECORD_ENDINGS = (*BY_ENDING, ".json", ".parquet", ".txt", *sorted(ENDINGS))
# Of a file, to see its columns.
_HEAD = 64 * 1024


def has_our_columns(records: UploadedFile, format_slug: str) -> bool:
    """Report whether the first line has the columns of the format; True if it cannot be read."""
    head = decoded_head(records.read(_HEAD))
    records.seek(0)
    line = head.splitlines()[0] if head else ""
    if format_slug == "jsonl":
        try:
            record = parse_line(line)
        except ValueError:
            return True
        names = {*record} if isinstance(record, dict) else set()
    else:
        names = {name.strip().strip('"') for name in re.split(r"[,;\t]", line)}
    return not line or (names >= {"id", "caption"} and bool(names & {*NAMES_OF_CLIPS}))


def list_format(records: UploadedFile) -> str:
    """Return the format of a list of videos that the first line shows: lines without a header, or Kinetics; else ""."""
    head = decoded_head(records.read(_HEAD))
    records.seek(0)
    line = head.splitlines()[0] if head else ""
    if {name.strip().strip('"') for name in line.split(",")} >= KINETICS_COLUMNS:
        return "kinetics"
    return "video-list" if looks_like_line(line) else ""


class _ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; none is an empty list. `unpacks`: files of archives are taken one by one."""

    widget = _ManyFiles

    def __init__(self, *, unpacks: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unpacks = unpacks

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = [super(FilesField, self).clean(file, initial) for file in data or []]
        return members(files, settings.UPLOAD_MAX_BYTES) if self.unpacks else files


def members(files: Sequence[UploadedFile], max_bytes: int) -> list[UploadedFile]:
    """Return the files, and those of archives one by one. ValidationError: an archive is unusable, or too large."""
    try:
        return [member for file in files for member in unpacked(file, max_bytes)]
    except EvaluationError as error:
        raise ValidationError(str(error)) from error


def _record_files(files: Sequence[UploadedFile], *, is_named: bool) -> list[UploadedFile]:
    """Return the files that can be the records: by their ending, texts only if there is nothing else.

    `is_named`: the format is chosen, and files of it may have any ending but that of a video.
    """
    by_ending = [(file, PurePath(file.name or "").suffix.lower()) for file in files]
    tables = [file for file, ending in by_ending if ending in RECORD_ENDINGS and ending != ".txt"]
    texts = [file for file, ending in by_ending if ending == ".txt"]
    others = [file for file, ending in by_ending if is_named and ending not in SUFFIXES]
    return tables or texts or others


class ImportForm(forms.Form):
    format = forms.ChoiceField(label=_("Format"))
    # Programs name the records; on the page they are among the files.
    records = forms.FileField(required=False, max_length=255)
    videos = FilesField(label=_("Files"), required=False, max_length=255)
    subtest = forms.CharField(
        label=_("Subtest"),
        required=False,
        max_length=MAX_LABEL,
        help_text=_("For records without a subtest. If empty, the file name is used."),
    )
    dataset = forms.CharField(
        label=_("Dataset"),
        required=False,
        max_length=MAX_DATASET,
        help_text=_("Source of the videos, for formats that do not name it: contrast sets and Feint6K."),
    )

    made_by = forms.ChoiceField(
        label=_("Hard foils by"),
        required=False,
        choices=[("", _("unknown")), ("machine", _("a machine")), ("person", _("people"))],
        help_text=_("For contrast sets: the report on verbs compares foils by machines and by people."),
    )

    as_published = forms.BooleanField(
        label=_("Published benchmark: count its items as valid without votes"),
        required=False,
        help_text=_(
            "Votes in the file still decide. Releases, datasheets and leaderboards mark these "
            "items. You can collect votes later."
        ),
    )

    address = forms.RegexField(
        ADDRESS,
        label=_("Data set of the Hugging Face Hub"),
        required=False,
        max_length=300,
        help_text=_("Instead of a records file: hf://datasets/OWNER/NAME@REVISION/PATH. The server downloads it."),
        error_messages={"invalid": _("Write the address as hf://datasets/OWNER/NAME@REVISION/PATH.")},
    )
    recipe = forms.CharField(required=False, max_length=200)
    mapping = forms.JSONField(required=False)

    def __init__(self, *args: Any, asks_for_columns: bool = False, **kwargs: Any) -> None:
        """`asks_for_columns`: a table of unknown columns is taken, because a page asks for them next."""
        super().__init__(*args, **kwargs)
        self._asks_for_columns = asks_for_columns
        by_name = (BY_NAME, _("Detect from the file"))
        groups = [(heading, choices_of(rows)) for heading, rows in formats_by_kind()]
        self.fields["format"].choices = [by_name, *groups, ("videos", _("Only videos"))]
        self.fields["videos"].help_text = _(
            "A table of records, videos, a ZIP archive, or all of them. Videos are matched by file name or by the id "
            "in the records. mp4, webm, mov, mkv or avi, max %(mb)s MB in total. Files that browsers cannot play are "
            "converted."
        ) % {"mb": settings.UPLOAD_MAX_BYTES // MEGABYTE}
        self.fields["videos"].widget.attrs["accept"] = ",".join(("video/*,.mkv,.avi", SUFFIX, *RECORD_ENDINGS))

    def clean(self) -> dict[str, Any]:
        format_slug = self.cleaned_data.get("format")
        if self.errors.keys() & {"records", "videos", "address"}:
            return self.cleaned_data
        files = self.cleaned_data["videos"]
        records = [self.cleaned_data["records"]] if self.cleaned_data["records"] else []
        records = records or _record_files(files, is_named=format_slug not in (BY_NAME, "videos"))
        self.cleaned_data["records"] = records[0] if records else None
        self.cleaned_data["videos"] = videos = [
            file for file in files if file not in records and not str(file.name).lower().endswith(".txt")
        ]
        if len(records) > 1:
            names = ", ".join(str(file.name) for file in records)
            self.add_error(
                "videos", _("Each of these files can be the records: %(names)s. Choose one.") % {"names": names}
            )
        elif records and self.cleaned_data.get("address"):
            self.add_error("address", _("Give a records file or an address, not both."))
        elif self.cleaned_data.get("address"):
            self.cleaned_data["format"] = "table" if format_slug in (BY_NAME, "videos") else format_slug
        elif format_slug == "videos" and records:
            self.add_error("format", _("Choose the format of the records file, or remove the file."))
        elif format_slug == "videos" and not videos:
            self.add_error("videos", _("Choose the videos."))
        elif not records and (not videos or format_slug not in (BY_NAME, "videos")):
            self.add_error("videos", _("Choose the records file."))
        elif format_slug == BY_NAME:
            self._set_format()
        return self.cleaned_data

    def _set_format(self) -> None:
        """Replace "detect from the file name" by the detected format."""
        records = self.cleaned_data.get("records")
        if records is None:
            self.cleaned_data["format"] = "videos"
            return
        ending = PurePath(records.name or "").suffix.lower()
        format_slug = list_format(records) or BY_ENDING.get(ending)
        if self._asks_for_columns and (
            ending in (".json", ".parquet", *ENDINGS)
            or (format_slug in {"csv", "jsonl"} and not has_our_columns(records, format_slug))
        ):
            format_slug = "table"
        if format_slug is None:
            self.add_error(
                "format",
                _(
                    "The format cannot be detected from the file name. Choose the format, or “Any table” for a "
                    "table with columns of your own."
                ),
            )
        else:
            self.cleaned_data["format"] = format_slug

    @property
    def is_unfolded(self) -> bool:
        """Report whether an option has an error or is not the usual one, so that the page shows the options."""
        return any(name != "videos" for name in self.errors) or self["format"].value() not in (None, BY_NAME)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the action."""
        values = self.cleaned_data
        slug = "" if values["format"] == "videos" else values["format"]
        known_params = {param.name for param in IMPORTERS[slug].params} if slug else set()
        param_names = ("subtest", "dataset", "made_by", "recipe", "mapping")
        params = {name: values[name] for name in param_names if name in known_params and values[name]}
        files = {"records": values["records"] or values["address"] or None, "videos": values["videos"]}
        return {"format_slug": slug, **files, "params": params, "as_published": values["as_published"]}
