"""Videos of a project: their list, a page each, the file itself."""

from django.urls import path

from foilworks.core.corpus import views

app_name = "corpus"
urlpatterns = [
    path("projects/<slug:slug>/subtests/", views.subtests, name="subtests"),
    path("projects/<slug:slug>/captions/characters/", views.characters, name="characters"),
    path("projects/<slug:slug>/videos/", views.videos, name="videos"),
    path("projects/<slug:slug>/videos/<int:pk>/", views.video, name="video"),
    path("projects/<slug:slug>/videos/<int:pk>/panel/", views.video_panel, name="video_panel"),
    path("projects/<slug:slug>/videos/<int:pk>/media/", views.media, name="media"),
    path("projects/<slug:slug>/videos/<int:pk>/strip/", views.film_strip, name="film_strip"),
    path("projects/<slug:slug>/clips/<slug:token>/", views.clip, name="clip"),
    path("projects/<slug:slug>/videos/<int:pk>/warning/", views.warning, name="video_warning"),
]
