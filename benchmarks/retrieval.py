"""Standard retrieval over N texts x N videos in 64 dimensions: seconds and peak memory. 100,000 takes minutes.

.venv/bin/python benchmarks/retrieval.py [--size 100000]
"""

import argparse
import json
import resource
import time

import numpy as np

from evaluation.metrics import retrieval

DIMENSIONS = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    size = parser.parse_args().size
    generator = np.random.default_rng(0)
    videos = generator.standard_normal((size, DIMENSIONS)).astype(np.float32)
    texts = videos + 2.0 * generator.standard_normal((size, DIMENSIONS)).astype(np.float32)
    began = time.perf_counter()
    found = retrieval.from_embeddings(texts, videos)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shares = {side: round(found[side]["R@1"], 4) for side in ("t2v", "v2t")}
    whole = size * size * 4 / 2**20
    print(
        json.dumps(
            {
                "size": size,
                "dimensions": DIMENSIONS,
                "seconds": round(seconds, 1),
                "peak_mib": round(peak),
                "whole_matrix_mib": round(whole),
                "R@1": shares,
            }
        )
    )


if __name__ == "__main__":
    main()
