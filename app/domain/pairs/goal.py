"""What the questions of a session are for."""

from enum import StrEnum


class Goal(StrEnum):
    """The order of the top k (kappa-NDCG), or which pages belong in it (overlap)."""

    ORDER = "order"
    MEMBERS = "members"
