"""A scoring run cut into shards: what is left to ask, who asks it, how it is stored, and how long it will take."""
