"""Addresses of UTD, below `bias/` of a project."""

from django.urls import path

from evaluation.utd.views import bias, shortcuts

app_name = "utd"
urlpatterns = [
    path("projects/<slug:slug>/bias/", bias.overview, name="bias"),
    path("projects/<slug:slug>/bias/live/", bias.overview_progress, name="bias_progress"),
    path("projects/<slug:slug>/bias/new/", bias.describe, name="bias_describe"),
    path("projects/<slug:slug>/bias/files/", bias.description_file, name="bias_files"),
    path("projects/<slug:slug>/bias/measure/", bias.measure, name="bias_measure"),
    path("projects/<slug:slug>/bias/splits/", bias.split_file, name="bias_splits"),
    path("projects/<slug:slug>/bias/ablation/", bias.ablation, name="bias_ablation"),
    path("projects/<slug:slug>/bias/items/", shortcuts.shortcuts, name="bias_items"),
    path("projects/<slug:slug>/bias/items/live/", shortcuts.shortcuts_progress, name="bias_items_progress"),
    path("projects/<slug:slug>/bias/items/bar/", shortcuts.shortcut_bar, name="bias_bar"),
    path("projects/<slug:slug>/bias/descriptions/<int:pk>/", bias.descriptions, name="bias_descriptions"),
    path("projects/<slug:slug>/bias/descriptions/<int:pk>/on/", bias.go_on, name="bias_go_on"),
    path("projects/<slug:slug>/bias/<int:pk>/", bias.run, name="bias_run"),
    path("projects/<slug:slug>/bias/<int:pk>/progress/", bias.run_progress, name="bias_run_progress"),
    path("projects/<slug:slug>/bias/<int:pk>/split/", bias.split, name="bias_split"),
    path("projects/<slug:slug>/bias/<int:pk>/models/", bias.models, name="bias_models"),
    path("projects/<slug:slug>/bias/<int:pk>/<slug:what>.<slug:extension>", bias.download, name="bias_download"),
]
