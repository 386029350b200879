"""Addresses of public pages, of citation, terms and datasheet."""

from django.urls import path

from evaluation.publishing.views import public, public_page, publication

app_name = "publishing"
urlpatterns = [
    path("projects/<slug:slug>/publication/", publication.publication, name="publication"),
    path("projects/<slug:slug>/datasheet/", publication.datasheet, name="datasheet"),
    path("projects/<slug:slug>/releases/<int:pk>/public/", public_page.public_page, name="public_page"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/public/submissions/<int:submission>/",
        public_page.submission,
        name="submission",
    ),
    path(
        "projects/<slug:slug>/releases/<int:pk>/public/<slug:move>/",
        public_page.public_page_move,
        name="public_page_move",
    ),
    path("r/<slug:key>/", public.public_release, name="public_release"),
    path("r/<slug:key>/videos/<int:position>/", public.public_video, name="public_video"),
    path("r/<slug:key>/export.zip", public.public_export, name="public_export"),
    path("r/<slug:key>/scores/", public.public_scores, name="public_scores"),
    path("r/<slug:key>/scores/sent/", public.public_sent, name="public_sent"),
]
