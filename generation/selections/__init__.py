"""Choose, among candidates that people have not started on, a set with few text-only cues."""
