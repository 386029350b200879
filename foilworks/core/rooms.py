"""Give an app the tables and hooks of its rooms: the folders directly inside of it."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig


class AppOfRooms(AppConfig):
    """An app whose tables are in `<room>/models.py` and whose reactions to other rooms are in `<room>/hooks.py`."""

    def import_models(self) -> None:
        """Import the `models` module of each room, so that Django finds all tables of the app."""
        super().import_models()
        self.import_from_rooms("models")

    def ready(self) -> None:
        """Import the `hooks` of each room: its reactions to events in other rooms."""
        self.import_from_rooms("hooks")

    def import_from_rooms(self, module: str) -> None:
        for name in self._rooms_with(module):
            import_module(f"{name}.{module}")

    def _rooms_with(self, module: str) -> Iterator[str]:
        for room in iter_modules(self.module.__path__):
            name = f"{self.name}.{room.name}"
            if room.ispkg and any(each.name == module for each in iter_modules(import_module(name).__path__)):
                yield name
