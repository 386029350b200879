"""Import files into the tables, and store the imported records."""
