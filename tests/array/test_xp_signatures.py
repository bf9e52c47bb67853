"""pygpu.xp's functions take NumPy's arguments, by NumPy's names."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from pygpu import xp

pytestmark = pytest.mark.skipif(
    not np.__version__.startswith("2.4"), reason="NumPy 2.4 is not installed"
)

# like is for NumPy's own dispatch, ndmax for lists of objects, and device a keyword in the standard
LEFT_OUT = {"like", "ndmax", "device"}
CLASSES = {"finfo", "iinfo"}  # whose arguments NumPy does not tell


def parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def functions():
    for space, numpys, own in (
        ("", np, xp),
        ("linalg.", np.linalg, xp.linalg),
        ("fft.", np.fft, xp.fft),
    ):
        for name in sorted(set(dir(numpys)) & set(own.__all__)):
            one = getattr(numpys, name)
            if inspect.isroutine(one) or inspect.isfunction(one):
                if name not in CLASSES and parameters(one) is not None:
                    yield pytest.param(one, getattr(own, name), id=space + name)


@pytest.mark.parametrize(("numpys", "own"), functions())
def test_signatures_accept_numpys_arguments(numpys, own):
    wanted, found = parameters(numpys), parameters(own)
    kinds = {p.kind for p in found.values()}
    any_name = inspect.Parameter.VAR_KEYWORD in kinds
    any_place = inspect.Parameter.VAR_POSITIONAL in kinds
    order = [n for n, p in found.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for place, (name, parameter) in enumerate(wanted.items()):
        if name in LEFT_OUT or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind != parameter.POSITIONAL_ONLY and not any_name:
            assert name in found, f"{name}= is missing"
            assert found[name].kind != parameter.POSITIONAL_ONLY, f"{name}= is not accepted"
        if parameter.kind != parameter.KEYWORD_ONLY and not any_place:
            assert place < len(order), f"{name} is not accepted as argument {place}"
            if parameter.kind != parameter.POSITIONAL_ONLY:
                assert order[place] == name


def test_all_functions_are_compared():
    compared = [re.sub(r".*\.", "", one.id) for one in functions()]
    assert len(compared) > 150 and {"sum", "clip", "take", "svd", "fft"} <= set(compared)
