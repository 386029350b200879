"""Define the addresses of UTD, below `bias/` of a project."""

from django.urls import path

from evaluation.utd import split_views, views

app_name = "utd"
urlpatterns = [
    path("projects/<slug:slug>/bias/", views.overview, name="bias"),
    path("projects/<slug:slug>/bias/live/", views.overview_progress, name="bias_progress"),
    path("projects/<slug:slug>/bias/new/", views.describe, name="bias_describe"),
    path("projects/<slug:slug>/bias/files/", views.description_file, name="bias_files"),
    path("projects/<slug:slug>/bias/measure/", views.measure, name="bias_measure"),
    path("projects/<slug:slug>/bias/splits/", views.split_file, name="bias_splits"),
    path("projects/<slug:slug>/bias/ablation/", views.ablation, name="bias_ablation"),
    path("projects/<slug:slug>/bias/datasets/", split_views.datasets, name="bias_datasets"),
    path("projects/<slug:slug>/bias/items/", views.shortcuts, name="bias_items"),
    path("projects/<slug:slug>/bias/items/live/", views.shortcuts_progress, name="bias_items_progress"),
    path("projects/<slug:slug>/bias/items/bar/", views.shortcut_bar, name="bias_bar"),
    path("projects/<slug:slug>/bias/descriptions/<int:pk>/", views.descriptions, name="bias_descriptions"),
    path("projects/<slug:slug>/bias/descriptions/<int:pk>/on/", views.go_on, name="bias_go_on"),
    path("projects/<slug:slug>/bias/<int:pk>/", views.run, name="bias_run"),
    path("projects/<slug:slug>/bias/<int:pk>/progress/", views.run_progress, name="bias_run_progress"),
    path("projects/<slug:slug>/bias/<int:pk>/split/", views.split, name="bias_split"),
    path("projects/<slug:slug>/bias/<int:pk>/reliability/", split_views.reliability, name="bias_reliability"),
    path("projects/<slug:slug>/bias/<int:pk>/samples/", split_views.samples, name="bias_samples"),
    path("projects/<slug:slug>/bias/<int:pk>/models/", views.models, name="bias_models"),
    path("projects/<slug:slug>/bias/<int:pk>/train/", split_views.train, name="bias_train"),
    path("projects/<slug:slug>/bias/<int:pk>/<slug:what>.<slug:extension>", views.download, name="bias_download"),
]
