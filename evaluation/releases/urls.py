"""Addresses of releases."""

from django.urls import path

from evaluation.releases.views import release, releases

app_name = "releases"
urlpatterns = [
    path("projects/<slug:slug>/releases/", releases.releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", releases.freeze, name="freeze"),
    path("projects/<slug:slug>/releases/<int:pk>/", release.release, name="release"),
    path("projects/<slug:slug>/releases/<int:pk>/scores.svg", release.release_chart, name="release_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/changes/", releases.release_changes, name="release_changes"),
]
