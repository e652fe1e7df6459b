"""Seeded synthetic full orders whose noise grows with rank, for experiments on the size of k."""

import numpy as np

from topkapi.analysis.data.ranking import RankingData


def noisy_orders(
    n_queries: int = 100,
    n_documents: int = 700,
    n_features: int = 20,
    *,
    noise: float = 1.0,
    seed: int = 0,
) -> RankingData:
    """Generate full orders by a hidden linear score whose noise grows with rank.

    The true rank r of a document by w.x is observed as r e^z, z normal with a standard deviation
    that grows from .5 at the first rank to .5 + ``noise`` at the last: assessors order the top of a
    list well and its end hardly, which [LGNC13]_ (section 4.2) blame for poor full-order training.
    Labels are n + 1 - rank of the observed order.

    Parameters
    ----------
    n_queries, n_documents, n_features
        Sizes.
    noise
        Growth of the noise from the first rank to the last.
    seed
        Seed of everything random.
    """
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=n_features)
    features = rng.normal(size=(n_queries, n_documents, n_features))
    clean = features @ weights / np.linalg.norm(weights)
    ranks = np.argsort(np.argsort(-clean, axis=1), axis=1)
    spread = 0.5 + noise * ranks / max(n_documents - 1, 1)
    observed = np.log(ranks + 1.0) + spread * rng.normal(size=clean.shape)
    order = np.argsort(np.argsort(observed, axis=1), axis=1)
    offsets = np.arange(n_queries + 1) * n_documents
    labels = (n_documents - order).astype(float).ravel()
    return RankingData(features.reshape(-1, n_features), labels, offsets)
