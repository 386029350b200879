"""Addresses of releases."""

from django.urls import path

from evaluation.releases.views.release import release, release_chart
from evaluation.releases.views.releases import freeze, release_changes, releases

app_name = "releases"
urlpatterns = [
    path("projects/<slug:slug>/releases/", releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", freeze, name="freeze"),
    path("projects/<slug:slug>/releases/<int:pk>/", release, name="release"),
    path("projects/<slug:slug>/releases/<int:pk>/scores.svg", release_chart, name="release_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/changes/", release_changes, name="release_changes"),
]
