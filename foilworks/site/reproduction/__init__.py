"""Make a paper's tables and figures again from the files that are public, with the product's own steps.

One module per paper: `SOURCES`, the files it looks for, and `reproduce(sources, work, *, weights, seed) -> Result`.
"""

from foilworks.core.text.registry import Entry

PAPERS = {
    "vilma": Entry("ViLMA (ICLR 2024)", "foilworks.site.reproduction.vilma"),
    "contrast-sets": Entry("Contrast sets (NAACL 2022)", "foilworks.site.reproduction.contrast_sets"),
    "feint6k": Entry("Feint6K and RCAD (ECCV 2024)", "foilworks.site.reproduction.feint6k"),
    "utd": Entry("UTD (CVPR 2025)", "foilworks.site.reproduction.utd"),
}
