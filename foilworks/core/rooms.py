"""Collect what each room of the apps has of its own: tables, hooks, declarations.

A room is a folder inside an app. No app lists its rooms, and no lower app names a higher one.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from django.apps import AppConfig, apps

# The light module of a room with its tables of names, such as JOBS, SENTENCES, EVENTS and NOTIFICATIONS.
DECLARATIONS = "declarations"


class AppOfRooms(AppConfig):
    """An app whose tables are in `<room>/models.py` and whose reactions to other rooms are in `<room>/hooks.py`.

    An `apps.py` names it `rooms.AppOfRooms`: of two classes in the module, Django would take neither.
    """

    def import_models(self) -> None:
        """Import the `models` module of each room, so that Django finds all tables of the app."""
        super().import_models()
        self._import_from_rooms("models")
        if self.models and self.models_module is None:
            # Without it, Django makes no permissions and content types for the app.
            self.models_module = self.module

    def ready(self) -> None:
        """Import the `hooks` of each room: its reactions to events in other rooms."""
        self._import_from_rooms("hooks")

    def _import_from_rooms(self, module: str) -> None:
        for room in iter_modules(self.module.__path__):
            name = f"{self.name}.{room.name}"
            if room.ispkg and any(inner.name == module for inner in iter_modules(import_module(name).__path__)):
                import_module(f"{name}.{module}")


@cache
def declared(table: str) -> Mapping[str, Any]:
    """Merge the table of this name in every `declarations.py`, in the order of the apps and folders.

    ValueError: two rooms declare the same name.
    """
    merged: dict[str, Any] = {}
    for module in _declarations():
        rows = getattr(import_module(module), table, {})
        if twice := sorted(merged.keys() & rows.keys()):
            raise ValueError(f"{module} declares {', '.join(twice)} in {table}, and so does another room")
        merged.update(rows)
    return merged


def _declarations() -> Iterator[str]:
    for app in apps.get_app_configs():
        if isinstance(app, AppOfRooms):
            root = Path(app.path)
            for path in sorted(root.rglob(f"{DECLARATIONS}.py")):
                yield ".".join([app.name, *path.relative_to(root).with_suffix("").parts])
