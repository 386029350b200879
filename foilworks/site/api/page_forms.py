"""Accept as JSON what a page's form accepts: one schema, one validation; fields that are not sent stay unchanged."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from django import forms
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, create_model

from foilworks.core.projects.number_fields import DecimalField, FloatField, IntegerField
from foilworks.site.api.answers import RefusedFields, cleaned
from foilworks.site.api.shapes import Id, Text, Word

# Makes the page's form: of None the empty one, of data (and files) the bound one.
Make = Callable[..., forms.BaseForm]


class FormBody(BaseModel):
    """The fields of a page's form. A field that is not sent keeps its value, or has its default."""

    model_config = ConfigDict(extra="forbid")


class OpenFormBody(FormBody):
    """The same for a form with one field per stage, subtest, … of the project, which the settings list."""

    model_config = ConfigDict(extra="allow")


def body_of(form: type[forms.BaseForm], name: str, *, is_open: bool = False, **more: Any) -> type[BaseModel]:
    """Return the schema of the form's fields without files; `more`: further fields.

    `is_open`: the form has fields that depend on rows of the project.
    """
    fields = {
        field_name: (_type_of(field) | None, Field(None, description=str(field.help_text or field.label or "")))
        for field_name, field in form.base_fields.items()
        if not isinstance(field, forms.FileField)
    }
    return create_model(name, __base__=OpenFormBody if is_open else FormBody, **fields, **more)


def _type_of(field: forms.Field) -> Any:
    if isinstance(field, forms.ModelMultipleChoiceField):
        return list[Id]
    if isinstance(field, forms.ModelChoiceField):
        return Word if field.to_field_name else Id
    if isinstance(field, forms.MultipleChoiceField):
        return list[Word | Id]
    if isinstance(field, forms.ChoiceField):
        values = _static_values(field)
        return Literal[tuple(values)] if values else Word
    types: tuple[tuple[type[forms.Field], Any], ...] = (
        (forms.BooleanField, bool),
        (FloatField, float),
        (DecimalField, float),
        (IntegerField, int),
        (forms.DateField, Word),
        (forms.JSONField, Any),
    )
    return next((kind for form_field, kind in types if isinstance(field, form_field)), Text)


def _static_values(field: forms.ChoiceField) -> list[str]:
    """Return the choices that the class of the form has; none if a form fills them in for its project."""
    return [value for value, label in field.choices if isinstance(value, str) and not isinstance(label, list | tuple)]


def filled(make: Make, sent: Mapping[str, Any], files: Mapping[str, Any] | None = None, *, where: str = "") -> Any:
    """Return the page's valid form with what was sent over its initial values. RefusedFields says what is wrong.

    `where`: the part of the body that has these fields.
    """
    try:
        return _filled(make, sent, files)
    except RefusedFields as error:
        raise RefusedFields(
            {f"{where}.{name}" if where else name: why for name, why in error.fields.items()}
        ) from error


def _filled(make: Make, sent: Mapping[str, Any], files: Mapping[str, Any] | None) -> Any:
    empty = make(None)
    refuse_unknown(empty, sent)
    data = {empty.add_prefix(name): sent[name] if name in sent else _default_of(empty, name) for name in empty.fields}
    form = make(data) if files is None else make(data, files)
    cleaned(form)
    return form


def _default_of(form: forms.BaseForm, name: str) -> Any:
    """Return what the page's field has at first: of a menu without a value, its first choice."""
    field = form.fields[name]
    value = form.get_initial_for_field(field, name)
    is_menu = type(field) is forms.ChoiceField and type(field.widget) is forms.Select
    return next((choice for choice, _label in field.choices), None) if value is None and is_menu else value


def refuse_unknown(form: forms.BaseForm, sent: Mapping[str, Any]) -> None:
    """Reject fields that the form lacks, and new values of fields that are fixed: neither may look stored."""
    unknown = {name: _("is not a field of this form") for name in sent if name not in form.fields}
    fixed = {
        name: str(form.fields[name].help_text)
        for name, value in sent.items()
        if name in form.fields
        and form.fields[name].disabled
        and value != form.get_initial_for_field(form.fields[name], name)
    }
    if unknown or fixed:
        raise RefusedFields(unknown | fixed)


def values_of(form: forms.BaseForm) -> dict[str, Any]:
    """Return the current value of each field of an unbound form."""
    return {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
