"""Cut a scoring run into shards: pairs to score, their workers, storage, and the expected time."""
