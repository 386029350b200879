"""Define the addresses of items."""

from django.urls import path

from evaluation.items.views import item, item_move, items

app_name = "items"
urlpatterns = [
    path("projects/<slug:slug>/items/", items, name="items"),
    path("projects/<slug:slug>/items/<int:pk>/", item, name="item"),
    path("projects/<slug:slug>/items/<int:pk>/move/", item_move, name="item_move"),
]
