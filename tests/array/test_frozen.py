"""Frozen: attributes, defaults, equality, and that nothing can be set."""

import pytest

from pygpu._src.util.frozen import Frozen


class Point(Frozen):
    x: int
    y: int = 0


class Named(Point):
    name: str = "none"


class Alone(Frozen):
    only: object


def test_fields_defaults_equality_and_hash() -> None:
    assert (Point(1).x, Point(1).y, Point(1, 2).y, Point(y=3, x=2).y) == (1, 0, 2, 3)
    assert Point(1) == Point(x=1, y=0) != Point(1, 2)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert Point(1) != Alone(1) and Alone((1,)) == Alone((1,)) != Alone(1)
    assert repr(Point(1)) == "Point(x=1, y=0)"
    named = Named(1, 2, "a")
    assert (named.x, named.y, named.name) == (1, 2, "a")
    assert named != Point(1, 2) and {named: 3}[Named(1, 2, "a")] == 3


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2})]
)
def test_wrong_arguments(args: tuple[int, ...], kwargs: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Point\(\) takes x, y"):
        Point(*args, **kwargs)


def test_frozen() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x cannot be set"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match=r"Point\.x cannot be deleted"):
        del point.x
    assert point.x == 1
