"""The most questions a sorter can ask for n items and the best k, whatever the answers."""


def heap_bound(n: int, k: int) -> int:
    """Two questions a level of every sift-down: Floyd's build, one gate an item, the final sort."""
    k = min(n, k)
    build = sum(2 * _levels_below(node, k) for node in range(k // 2))
    feed = (n - k) * (1 + 2 * _levels_below(0, k)) if k else 0
    final = sum(2 * _levels_below(0, size) for size in range(1, k))
    return build + feed + final


def insertion_bound(n: int, k: int) -> int:
    """A binary search an item; one gate and a search among k - 1 once the list is full."""
    k = min(n, k)
    filling = sum(_halvings(size) for size in range(k))
    return filling + ((n - k) * (1 + _halvings(k - 1)) if k else 0)


def tournament_bound(n: int, k: int) -> int:
    """n - 1 matches for the best; then a leaf's path each, whose first match has no opponent."""
    k = min(n, k)
    if k == 0 or n == 1:
        return max(n - 1, 0)
    return n - 1 + (k - 1) * ((n - 1).bit_length() - 1)


def _halvings(size: int) -> int:
    """Questions of a binary search among ``size`` items: ceil(log2(size + 1))."""
    return size.bit_length()


def _levels_below(node: int, size: int) -> int:
    """Levels under ``node`` of a complete tree of ``size`` nodes kept in an array."""
    levels = 0
    while (node := 2 * node + 1) < size:
        levels += 1
    return levels
