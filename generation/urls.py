"""Generation runs, what they made, and the methods themselves."""

from django.urls import path

from generation.views.captions import caption_run, captions, make_captions, maker_fields
from generation.views.hints import hints
from generation.views.methods import methods
from generation.views.new_run import method_fields, new_run
from generation.views.prompts import prompts
from generation.views.run import candidate, run, run_progress
from generation.views.run_work import resume_run, run_skipped, stop_run
from generation.views.runs import runs
from generation.views.selections import selection, selection_progress, selections
from generation.views.thresholds import thresholds
from generation.views.tunings import tuning, tunings

app_name = "generation"
urlpatterns = [
    path("methods/", methods, name="methods"),
    path("projects/<slug:slug>/runs/", runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", new_run, name="new_run"),
    path("projects/<slug:slug>/runs/new/fields/", method_fields, name="method_fields"),
    path("projects/<slug:slug>/prompts/", prompts, name="prompts"),
    path("projects/<slug:slug>/runs/<int:pk>/", run, name="run"),
    path("projects/<slug:slug>/runs/<int:pk>/resume/", resume_run, name="resume_run"),
    path("projects/<slug:slug>/runs/<int:pk>/stop/", stop_run, name="stop_run"),
    path("projects/<slug:slug>/runs/<int:pk>/skipped/", run_skipped, name="run_skipped"),
    path("projects/<slug:slug>/runs/<int:pk>/progress/", run_progress, name="run_progress"),
    path("projects/<slug:slug>/hints/", hints, name="hints"),
    path("projects/<slug:slug>/captions/", captions, name="captions"),
    path("projects/<slug:slug>/captions/fields/", maker_fields, name="maker_fields"),
    path("projects/<slug:slug>/captions/<int:pk>/", caption_run, name="caption_run"),
    path("projects/<slug:slug>/captions/<int:pk>/make/", make_captions, name="make_captions"),
    path("projects/<slug:slug>/runs/<int:pk>/thresholds/", thresholds, name="thresholds"),
    path("projects/<slug:slug>/tunings/", tunings, name="tunings"),
    path("projects/<slug:slug>/tunings/<int:pk>/", tuning, name="tuning"),
    path("projects/<slug:slug>/selections/", selections, name="selections"),
    path("projects/<slug:slug>/selections/<int:pk>/", selection, name="selection"),
    path("projects/<slug:slug>/selections/<int:pk>/progress/", selection_progress, name="selection_progress"),
    path("projects/<slug:slug>/candidates/<int:pk>/", candidate, name="candidate"),
]
