"""Crowd studies: their researchers' pages, the entry and the place of who comes; how people leave."""

from django.urls import path

from annotation.views.crowd import crowd, crowd_study, crowd_study_move
from annotation.views.crowd_entry import enter, place
from annotation.views.leaving import leave, own_data

crowd_urls = [
    path("enter/<slug:key>/", enter, name="enter"),
    path("account/data.json", own_data, name="own_data"),
    path("projects/<slug:slug>/crowd/", crowd, name="crowd"),
    path("projects/<slug:slug>/crowd/<int:pk>/", crowd_study, name="crowd_study"),
    path("projects/<slug:slug>/crowd/<int:pk>/<slug:move>/", crowd_study_move, name="crowd_study_move"),
    path("projects/<slug:slug>/place/", place, name="place"),
    path("projects/<slug:slug>/leave/", leave, name="leave"),
]
