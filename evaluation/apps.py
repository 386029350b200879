"""Define the Django app `evaluation`: one app label and one chain of migrations for the tables of its rooms."""

from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Reports, scores, releases"

    def import_models(self) -> None:
        """Import the `models` module of each room, so that Django finds all tables of the app."""
        super().import_models()
        self._import_from_rooms("models")

    def ready(self) -> None:
        """Import the `hooks` of each room: its reactions to events in other rooms."""
        self._import_from_rooms("hooks")

    def _import_from_rooms(self, module: str) -> None:
        for room in iter_modules(self.module.__path__):
            folder = f"{self.name}.{room.name}"
            if room.ispkg and any(each.name == module for each in iter_modules(import_module(folder).__path__)):
                import_module(f"{folder}.{module}")
