"""The web process. It never imports torch, transformers, sentence_transformers or spaCy (tested)."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from foilworks.whole_bodies import with_whole_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.settings")

application = with_whole_bodies(get_wsgi_application())
# All pages, which the first request would load otherwise.
_ = get_resolver().url_patterns
# What is loaded now stays: the garbage collector need not look through it again.
gc.freeze()
