"""Addresses of public pages, of citation, terms and datasheet."""

from django.urls import path

from evaluation.publishing.views.public import public_export, public_release, public_scores, public_sent, public_video
from evaluation.publishing.views.public_page import public_page, public_page_move, submission
from evaluation.publishing.views.publication import datasheet, publication

app_name = "publishing"
urlpatterns = [
    path("projects/<slug:slug>/publication/", publication, name="publication"),
    path("projects/<slug:slug>/datasheet/", datasheet, name="datasheet"),
    path("projects/<slug:slug>/releases/<int:pk>/public/", public_page, name="public_page"),
    path("projects/<slug:slug>/releases/<int:pk>/public/submissions/<int:submission>/", submission, name="submission"),
    path("projects/<slug:slug>/releases/<int:pk>/public/<slug:move>/", public_page_move, name="public_page_move"),
    path("r/<slug:key>/", public_release, name="public_release"),
    path("r/<slug:key>/videos/<int:position>/", public_video, name="public_video"),
    path("r/<slug:key>/export.zip", public_export, name="public_export"),
    path("r/<slug:key>/scores/", public_scores, name="public_scores"),
    path("r/<slug:key>/scores/sent/", public_sent, name="public_sent"),
]
