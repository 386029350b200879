"""Define the addresses of items, and of the list of captions."""

from django.urls import path

from evaluation.items.views import caption_panel, captions, item, item_move, item_panel, items, items_bulk

app_name = "items"
urlpatterns = [
    path("projects/<slug:slug>/captions/list/", captions, name="captions"),
    path("projects/<slug:slug>/captions/list/<int:pk>/panel/", caption_panel, name="caption_panel"),
    path("projects/<slug:slug>/items/", items, name="items"),
    path("projects/<slug:slug>/items/bulk/", items_bulk, name="bulk"),
    path("projects/<slug:slug>/items/<int:pk>/", item, name="item"),
    path("projects/<slug:slug>/items/<int:pk>/panel/", item_panel, name="panel"),
    path("projects/<slug:slug>/items/<int:pk>/move/", item_move, name="item_move"),
]
