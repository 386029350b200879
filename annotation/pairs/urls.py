"""Address of the page that proposes pairs."""

from django.urls import path

from annotation.pairs.views import pairs

app_name = "pairs"
urlpatterns = [path("projects/<slug:slug>/pairs/", pairs, name="pairs")]
