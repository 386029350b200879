"""Generation runs, what they made, and the methods themselves."""

from django.urls import path

from generation.views.candidate import candidate
from generation.views.methods import methods
from generation.views.new_run import method_fields, new_run
from generation.views.run import run, run_progress
from generation.views.runs import runs

app_name = "generation"
urlpatterns = [
    path("methods/", methods, name="methods"),
    path("projects/<slug:slug>/runs/", runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", new_run, name="new_run"),
    path("projects/<slug:slug>/runs/new/fields/", method_fields, name="method_fields"),
    path("projects/<slug:slug>/runs/<int:pk>/", run, name="run"),
    path("projects/<slug:slug>/runs/<int:pk>/progress/", run_progress, name="run_progress"),
    path("projects/<slug:slug>/candidates/<int:pk>/", candidate, name="candidate"),
]
