"""Every write of generation: one file, one function of the same name, one transaction."""
