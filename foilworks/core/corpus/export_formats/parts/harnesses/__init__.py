"""Files that exports to evaluation harnesses contain. They run with the harness and import nothing from here."""
