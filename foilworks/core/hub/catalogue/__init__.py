"""What models can be named: the tables of adapters, and the parts of a spec. Imports no model library."""
