"""Unbiasing through textual descriptions (UTD; Shvetsova et al., CVPR 2025): what of a data set can be answered from a
description of its frames alone, and the splits that are left when that is taken away."""
