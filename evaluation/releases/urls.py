"""Define the addresses of releases."""

from django.urls import path

from evaluation.releases import views

app_name = "releases"
urlpatterns = [
    path("projects/<slug:slug>/releases/", views.releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", views.freeze, name="freeze"),
    path("projects/<slug:slug>/releases/<int:pk>/", views.release, name="release"),
    path("projects/<slug:slug>/releases/<int:pk>/data/", views.release_data, name="release_data"),
    path("projects/<slug:slug>/releases/<int:pk>/validation/", views.release_validation, name="release_validation"),
    path("projects/<slug:slug>/releases/<int:pk>/scores.svg", views.release_chart, name="release_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/changes/", views.release_changes, name="release_changes"),
]
