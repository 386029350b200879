"""Import the learners of scikit-learn, without pandas.

scikit-learn imports pandas if it can, uses nothing of it here, and pandas occupies 85 MB.
"""

import sys

sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]
try:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
finally:
    if sys.modules["pandas"] is None:
        del sys.modules["pandas"]

__all__ = [
    "CountVectorizer",
    "ExtraTreesRegressor",
    "HistGradientBoostingClassifier",
    "LogisticRegression",
    "TruncatedSVD",
]
