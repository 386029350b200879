"""Generation runs, what they made, and the methods themselves."""

from django.urls import path

from generation.views import captions, hints, methods, prompts, runs, selections, thresholds, tunings

app_name = "generation"
urlpatterns = [
    path("methods/", methods.methods, name="methods"),
    path("projects/<slug:slug>/runs/", runs.runs, name="runs"),
    path("projects/<slug:slug>/runs/new/", runs.new_run, name="new_run"),
    path("projects/<slug:slug>/runs/new/fields/", runs.method_fields, name="method_fields"),
    path("projects/<slug:slug>/prompts/", prompts.prompts, name="prompts"),
    path("projects/<slug:slug>/runs/<int:pk>/", runs.run, name="run"),
    path("projects/<slug:slug>/runs/<int:pk>/resume/", runs.resume_run, name="resume_run"),
    path("projects/<slug:slug>/runs/<int:pk>/stop/", runs.stop_run, name="stop_run"),
    path("projects/<slug:slug>/runs/<int:pk>/skipped/", runs.run_skipped, name="run_skipped"),
    path("projects/<slug:slug>/runs/<int:pk>/progress/", runs.run_progress, name="run_progress"),
    path("projects/<slug:slug>/hints/", hints.hints, name="hints"),
    path("projects/<slug:slug>/captions/", captions.captions, name="captions"),
    path("projects/<slug:slug>/captions/fields/", captions.maker_fields, name="maker_fields"),
    path("projects/<slug:slug>/captions/<int:pk>/", captions.caption_run, name="caption_run"),
    path("projects/<slug:slug>/captions/<int:pk>/make/", captions.make_captions, name="make_captions"),
    path("projects/<slug:slug>/runs/<int:pk>/thresholds/", thresholds.thresholds, name="thresholds"),
    path("projects/<slug:slug>/tunings/", tunings.tunings, name="tunings"),
    path("projects/<slug:slug>/tunings/<int:pk>/", tunings.tuning, name="tuning"),
    path("projects/<slug:slug>/selections/", selections.selections, name="selections"),
    path("projects/<slug:slug>/selections/<int:pk>/", selections.selection, name="selection"),
    path(
        "projects/<slug:slug>/selections/<int:pk>/progress/", selections.selection_progress, name="selection_progress"
    ),
    path("projects/<slug:slug>/candidates/<int:pk>/", runs.candidate, name="candidate"),
]
