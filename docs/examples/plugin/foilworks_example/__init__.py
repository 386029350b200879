"""Examples of Foilworks plug-ins, one per group (docs/how-to/plugins.md)."""
