"""Addresses that erase an account."""

from django.urls import path

from annotation.erasure.views import erase, erase_worker

app_name = "erasure"
urlpatterns = [
    path("account/erase/", erase, name="erase"),
    path("projects/<slug:slug>/people/<int:pk>/erase/", erase_worker, name="erase_worker"),
]
