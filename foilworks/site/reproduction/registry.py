"""List the papers that `foilworks reproduce` knows."""

from pathlib import Path

from foilworks.core.text.registry import Entry

# Small made files in each paper's published form, for a first try.
SAMPLES = Path(__file__).parent / "samples"
PAPERS = {
    "vilma": Entry("ViLMA (ICLR 2024)", "foilworks.site.reproduction.vilma"),
    "contrast-sets": Entry("Contrast sets (NAACL 2022)", "foilworks.site.reproduction.contrast_sets"),
    "feint6k": Entry("Feint6K and RCAD (ECCV 2024)", "foilworks.site.reproduction.feint6k"),
    "utd": Entry("UTD (CVPR 2025)", "foilworks.site.reproduction.utd"),
    "tst": Entry("TsT (COLM 2026)", "foilworks.site.reproduction.tst"),
    "video-oasis": Entry("Video-Oasis (ECCV 2026)", "foilworks.site.reproduction.video_oasis"),
}
