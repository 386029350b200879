"""Measure and remove bias with UTD, unbiasing through textual descriptions (UTD, Sec. 3).

It measures how much of a data set can be answered from descriptions of its frames alone, and creates splits without
these samples.
"""
