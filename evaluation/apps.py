"""Define the Django app `evaluation`: one app label and one chain of migrations for the tables of its rooms."""

from foilworks.core import rooms


class EvaluationConfig(rooms.AppOfRooms):
    name = "evaluation"
    verbose_name = "Reports, scores, releases"
