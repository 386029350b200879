"""An example of a Foilworks plug-in (docs/how-to/plugins.md)."""
