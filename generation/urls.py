"""Addresses of the pages of generation."""

from django.urls import path

from generation import prompt_views, views
from generation.methods_page import methods

app_name = "generation"
urlpatterns = [
    path("methods/", methods, name="methods"),
    path("projects/<slug:slug>/runs/", views.runs, name="runs"),
    path("projects/<slug:slug>/runs/benchmark/", views.start_benchmark, name="start_benchmark"),
    path("projects/<slug:slug>/runs/new/", views.new_run, name="new_run"),
    path("projects/<slug:slug>/runs/new/fields/", views.method_fields, name="method_fields"),
    path("projects/<slug:slug>/runs/new/preview/", views.run_preview, name="run_preview"),
    path("projects/<slug:slug>/prompts/", prompt_views.prompts, name="prompts"),
    path("projects/<slug:slug>/runs/<int:pk>/", views.run, name="run"),
    path("projects/<slug:slug>/runs/<int:pk>/resume/", views.resume_run, name="resume_run"),
    path("projects/<slug:slug>/runs/<int:pk>/stop/", views.stop_run, name="stop_run"),
    path("projects/<slug:slug>/runs/<int:pk>/skipped/", views.run_skipped, name="run_skipped"),
    path("projects/<slug:slug>/runs/<int:pk>/progress/", views.run_progress, name="run_progress"),
    path("projects/<slug:slug>/captions/", views.captions, name="captions"),
    path("projects/<slug:slug>/captions/fields/", views.maker_fields, name="maker_fields"),
    path("projects/<slug:slug>/captions/<int:pk>/", views.caption_run, name="caption_run"),
    path("projects/<slug:slug>/captions/<int:pk>/make/", views.make_captions, name="make_captions"),
    path("projects/<slug:slug>/runs/<int:pk>/thresholds/", views.thresholds, name="thresholds"),
    path("projects/<slug:slug>/tunings/", views.tunings, name="tunings"),
    path("projects/<slug:slug>/tunings/<int:pk>/", views.tuning, name="tuning"),
    path("projects/<slug:slug>/selections/", views.selections, name="selections"),
    path("projects/<slug:slug>/selections/<int:pk>/", views.selection, name="selection"),
    path("projects/<slug:slug>/selections/<int:pk>/progress/", views.selection_progress, name="selection_progress"),
    path("projects/<slug:slug>/candidates/<int:pk>/", views.candidate, name="candidate"),
    path("projects/<slug:slug>/candidates/<int:pk>/panel/", views.candidate_panel, name="candidate_panel"),
]
