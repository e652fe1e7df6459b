"""Upper bounds on the number of questions of a sorter for n items and the best k."""


def heap_bound(n: int, k: int) -> int:
    """Return the bound of the heap: two questions per level of every sift-down.

    The parts are Floyd's build, one comparison with the root per further item, and the final sort.
    """
    k = min(n, k)
    build = sum(2 * _levels_below(node, k) for node in range(k // 2))
    feed = (n - k) * (1 + 2 * _levels_below(0, k)) if k else 0
    final = sum(2 * _levels_below(0, size) for size in range(1, k))
    return build + feed + final


def insertion_bound(n: int, k: int) -> int:
    """Return the bound of binary insertion: one binary search per item.

    Once the list is full: one comparison with its last item, then a search among k - 1.
    """
    k = min(n, k)
    filling = sum(_halvings(size) for size in range(k))
    return filling + ((n - k) * (1 + _halvings(k - 1)) if k else 0)


def tournament_bound(n: int, k: int) -> int:
    """Return the bound of the tournament: n - 1 matches for the best, then one path per item.

    The first match of a leaf's path has no opponent.
    """
    k = min(n, k)
    if k == 0 or n == 1:
        return max(n - 1, 0)
    return n - 1 + (k - 1) * ((n - 1).bit_length() - 1)


def _halvings(size: int) -> int:
    """Return the questions of a binary search among ``size`` items: ceil(log2(size + 1))."""
    return size.bit_length()


def _levels_below(node: int, size: int) -> int:
    """Count the levels under ``node`` of a complete tree of ``size`` nodes in an array."""
    levels = 0
    while (node := 2 * node + 1) < size:
        levels += 1
    return levels
