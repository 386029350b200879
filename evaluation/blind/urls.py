"""Define the addresses of the blind audit."""

from django.urls import path

from evaluation.blind.views import blind_bars, blind_scorer

app_name = "blind"
urlpatterns = [
    path("projects/<slug:slug>/blind/bars/", blind_bars, name="blind_bars"),
    path("projects/<slug:slug>/blind/models/", blind_scorer, name="blind_scorer"),
]
