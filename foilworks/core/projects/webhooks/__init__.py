"""Send events of a project to addresses of its researchers."""
