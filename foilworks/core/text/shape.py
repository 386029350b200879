"""Declare the shape of a document from a stranger; its types are checked before anything uses a field."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError


class ShapeError(ValueError):
    """The document has another shape; the message is one line, with the field."""


class Shape(BaseModel):
    """The fields that the product reads. Others are allowed and stay."""

    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())

    @classmethod
    def read(cls, document: str | bytes | Any) -> Self:
        """Return the document, from JSON or as Python's parser gives it. ShapeError."""
        try:
            if isinstance(document, str | bytes):
                return cls.model_validate_json(document)
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"]))[:100]
            raise ShapeError(f"{field}: {first['msg'][:200]}" if field else first["msg"][:200]) from error
