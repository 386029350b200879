#!/usr/bin/env python
"""Django's own entry point; `foilworks` is the same with a shorter name."""

from foilworks.site.cli import main

if __name__ == "__main__":
    main()
