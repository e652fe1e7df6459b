"""Counts requests for a monitor; the workers of a host share their counts."""

from prometheus_client import Histogram

_requests = Histogram(
    "topkapi_request_seconds",
    "Seconds until a request was answered, by the template of its path.",
    ("method", "path", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)


def count_request(method: str, path: str | None, status: int, seconds: float) -> None:
    """Count a request; those to unknown addresses are counted together."""
    _requests.labels(method, path or "unknown", str(status)).observe(seconds)
