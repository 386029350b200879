"""Define the addresses of semantic proximity."""

from django.urls import path

from evaluation.proximity.views import proximity, proximity_progress

app_name = "proximity"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/proximity/", proximity, name="proximity"),
    path("projects/<slug:slug>/releases/<int:pk>/proximity/progress/", proximity_progress, name="proximity_progress"),
]
