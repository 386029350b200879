"""Start the web process. It never imports torch, transformers, sentence_transformers or spaCy (tested)."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")

application = get_asgi_application()
