"""Every write of evaluation: one file, one function of the same name, one transaction."""
