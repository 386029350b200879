"""Unbiasing through textual descriptions (UTD, Sec. 3): how much of a data set can be answered from descriptions of its
frames alone, and the splits without these samples."""
