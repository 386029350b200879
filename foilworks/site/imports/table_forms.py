"""Define the form that says what each column of a table is, filled with guesses from its names and contents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.import_formats.parsing.column_profiles import columns_in, text_columns
from foilworks.core.corpus.import_formats.parsing.column_roles import guesses_of, unsure
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.row_filters import OPERATORS, parse_condition
from foilworks.core.corpus.import_formats.parsing.row_values import exploded, value_at
from foilworks.core.corpus.import_formats.parsing.table_sample import list_columns
from foilworks.core.corpus.import_formats.parsing.templates import MAX_TEMPLATE
from foilworks.core.corpus.records import MAX_DATASET, TIME_UNITS
from foilworks.core.text.quoting import shortened
from foilworks.site.imports.recipes import MAX_NAME

Rows = Sequence[Mapping[str, Any]]
# Fields that take one column: (name, label). The first are always visible, the others if they are filled in, or wanted.
MAIN = (
    ("caption", _("Caption")),
    ("video", _("Video file")),
    ("source_id", _("Video id, if there is no file name")),
    ("id", _("Record id")),
)
CHOICE = (("question", _("Question")),)
CLIP = (
    ("start_time", _("Start of the clip")),
    ("end_time", _("End of the clip")),
    ("split", _("Split")),
    ("class_label", _("Class")),
)
MORE = (
    ("category", _("Category")),
    ("url", _("Address of the video file")),
    ("movie", _("Movie")),
    ("subtest", _("Subtest")),
    ("test", _("Phenomenon")),
    ("proficiency_caption", _("Caption of the proficiency pair")),
    ("proficiency_foils", _("Foil of the proficiency pair")),
)
TEMPLATES = (
    ("caption", _("Caption from several columns")),
    ("video", _("Video file from several columns")),
    ("id", _("Record id from several columns")),
    ("candidate", _("Sentence of each candidate")),
)
N_CONDITIONS = 2
# Columns that are offered as foils or candidates.
MAX_TEXTS = 40
_EXAMPLE = 30
_VALUES = frozenset({"source_dataset", "time_unit"})


UNIT_LABELS = {"sec": _("seconds"), "pts": _("timestamps of the file (pts)"), "frames": _("frames")}


class TableForm(forms.Form):
    """One menu per field. `document()` is the recipe."""

    explode = forms.ChoiceField(label=_("One record per entry of"), required=False)
    texts = forms.MultipleChoiceField(
        label=_("Foils, or all candidates if one column says which is right"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    answer = forms.ChoiceField(label=_("Right candidate"), required=False)
    first_answer = forms.TypedChoiceField(
        label=_("The first candidate has number"),
        required=False,
        coerce=int,
        empty_value=0,
        choices=[("0", "0"), ("1", "1")],
    )
    time_unit = forms.ChoiceField(
        label=_("Unit of times"), required=False, choices=[(unit, UNIT_LABELS[unit]) for unit in TIME_UNITS]
    )
    source_dataset = forms.CharField(label=_("Dataset"), required=False, max_length=MAX_DATASET)
    keep = forms.BooleanField(
        label=_("Keep the other columns as facts"),
        required=False,
        help_text=_("The page of the item shows them, and exports contain them."),
    )
    name = forms.CharField(
        label=_("Save as a recipe named"),
        required=False,
        max_length=MAX_NAME,
        help_text=_("The project's next tables with these columns can use it."),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        rows: Rows,
        initial: Mapping[str, Any] | None = None,
        explode: str | None = None,
        video_names: Sequence[str] = (),
        known: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`initial`: a recipe; without one, and for another column to `explode`, the fields hold guesses.

        `video_names`: names of the clips' files; `known`: columns that a person chose, by field.
        """
        self.list_columns = list_columns(rows)
        column = explode if explode is None or explode in self.list_columns else ""
        roles, document = guesses_of(rows, column, video_names=video_names, known=known)
        document = self.guessed = dict(initial or document)
        self.unsure = {} if initial or data is not None else unsure(roles)
        explode = data.get("explode", "") if data is not None else document.get("explode", "")
        self.rows = _exploded(rows, explode if explode in self.list_columns else "")
        super().__init__(data, initial=_initial(document))
        columns = columns_in(self.rows)
        texts = dict.fromkeys([*self.initial["texts"], *text_columns(self.rows)[:MAX_TEXTS]])
        menu = [("", _("none")), *((name, _option(name, self.rows)) for name in columns)]
        self.fields["explode"].choices = [
            ("", _("nothing: one record per row")),
            *zip(*[self.list_columns] * 2, strict=True),
        ]
        self.fields["texts"].choices = [(name, name) for name in texts]
        self.fields["answer"].choices = menu
        for field, label in (*MAIN, *CHOICE, *CLIP, *MORE):
            self.fields[field] = forms.ChoiceField(label=label, required=False, choices=menu)
        for field, label in TEMPLATES:
            self.fields[f"{field}_template"] = forms.CharField(label=label, required=False, max_length=MAX_TEMPLATE)
        for number in range(N_CONDITIONS):
            self.fields[f"where_{number}"] = forms.ChoiceField(label=_("Column"), required=False, choices=menu)
            signs = [(sign, sign) for sign in OPERATORS]
            self.fields[f"sign_{number}"] = forms.ChoiceField(label=_("Condition"), required=False, choices=signs)
            self.fields[f"value_{number}"] = forms.CharField(label=_("Value"), required=False, max_length=200)

    def choices_of_caption(self) -> list[tuple[str, str]]:
        """Return the columns that can be the caption, each with its first value, if the guess is not sure."""
        guess = self.unsure.get("caption")
        return [(name, _option(name, self.rows)) for name in guess.alternatives or guess.columns] if guess else []

    def main(self) -> list[forms.BoundField]:
        return [self[name] for name, _label in MAIN]

    def clip(self) -> list[forms.BoundField]:
        return [self[name] for name in (*dict(CLIP), "time_unit", "source_dataset")]

    @property
    def has_clip(self) -> bool:
        return any(self[name].value() for name in (*dict(CLIP), "source_dataset"))

    def more(self) -> list[forms.BoundField]:
        return [self[name] for name, _label in MORE]

    def templates(self) -> list[forms.BoundField]:
        return [self[f"{name}_template"] for name, _label in TEMPLATES]

    @property
    def has_templates(self) -> bool:
        return any(field.value() for field in self.templates())

    def conditions(self) -> list[list[forms.BoundField]]:
        return [[self[f"{field}_{number}"] for field in ("where", "sign", "value")] for number in range(N_CONDITIONS)]

    def document(self) -> dict[str, Any]:
        """Return the recipe that the fields say. The form must be valid."""
        cleaned = self.cleaned_data
        columns = {name: cleaned[name] for name, _label in (*MAIN, *CHOICE, *CLIP, *MORE) if cleaned[name]}
        columns |= {name: cleaned[f"{name}_template"] for name, _label in TEMPLATES if cleaned[f"{name}_template"]}
        if cleaned["answer"]:
            columns |= {"candidates": cleaned["texts"], "answer": cleaned["answer"]}
            columns.pop("caption", None)
        else:
            columns |= {"foils": cleaned["texts"]} if cleaned["texts"] else {}
            columns.pop("candidate", None)
        values = {name: cleaned[name] for name in ("source_dataset",) if cleaned[name]}
        if cleaned["time_unit"] not in {"", "sec"}:
            values["time_unit"] = cleaned["time_unit"]
        extra = {name: cleaned[name] for name in ("explode", "name") if cleaned[name]}
        return {
            "columns": columns,
            "values": values,
            "where": list(self._where()),
            "first_answer": cleaned["first_answer"],
            "keep": cleaned["keep"],
            **extra,
        }

    def _where(self) -> Iterator[str]:
        conditions = (
            [self.cleaned_data[f"{field}_{number}"] for field in ("where", "sign", "value")]
            for number in range(N_CONDITIONS)
        )
        return [f"{name} {sign or '='} {value}" for name, sign, value in conditions if name]


def is_expressible(document: Mapping[str, Any]) -> bool:
    """Report whether the form can show the recipe; others are used as they are."""
    fields_of_form = {
        "title",
        "summary",
        "name",
        "columns",
        "values",
        "where",
        "explode",
        "first_answer",
        "keep",
        "records",
    }
    fields = {*dict(MAIN), *dict(CHOICE), *dict(CLIP), *dict(MORE), *dict(TEMPLATES), "foils", "candidates", "answer"}
    columns, values = document.get("columns", {}), document.get("values", {})
    return (
        fields_of_form >= document.keys()
        and fields >= columns.keys()
        and values.keys() <= _VALUES
        and len(document.get("where", [])) <= N_CONDITIONS
        and all(_is_in_menu(name, source) for name, source in columns.items())
    )


def _is_in_menu(name: str, source: Any) -> bool:
    """Report whether the form has a place for the source: a list of texts, a template, or a column."""
    if isinstance(source, list):
        return name in {"foils", "candidates"}
    return "{" not in source or name in dict(TEMPLATES)


def _exploded(rows: Rows, name: str) -> list[Mapping[str, Any]]:
    records: list[Mapping[str, Any]] = []
    for row in rows if name else ():
        try:
            records += exploded(row, name)
        except ProblemError:
            continue
    return records if name else list(rows)


def _initial(document: Mapping[str, Any]) -> dict[str, Any]:
    columns = document.get("columns", {})
    initial: dict[str, Any] = {"keep": True, "time_unit": "sec", "first_answer": "0"}
    for name, source in columns.items():
        if isinstance(source, str):
            initial[f"{name}_template" if "{" in source else name] = source
    texts = columns.get("candidates") or columns.get("foils") or []
    initial["texts"] = [texts] if isinstance(texts, str) else list(texts)
    for number, text in enumerate(document.get("where", [])[:N_CONDITIONS]):
        condition = parse_condition(text)
        initial |= {
            f"where_{number}": condition.name,
            f"sign_{number}": condition.operator,
            f"value_{number}": condition.value,
        }
    initial |= {name: document[name] for name in ("explode", "first_answer", "keep") if name in document}
    return initial | document.get("values", {})


def _option(name: str, rows: Rows) -> str:
    """The column with its first value, so that the menu shows what is in it."""
    values = (value_at(row, name) for row in rows)
    example = next((str(value) for value in values if value not in (None, "", [], {})), "")
    return f"{name} · {shortened(' '.join(example.split()), _EXAMPLE)}" if example else name
