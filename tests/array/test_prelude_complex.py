"""The functions of complex numbers that a generated source brings along: those that it uses."""

import re

import pytest

from pygpu._src.codegen.prelude import complex as prelude

EACH = re.findall(r"^PG_INLINE \w+ pg_c64_(\w+)\(", prelude.complex_functions("c64"), re.MULTILINE)


@pytest.mark.parametrize("name", EACH)
def test_a_function_comes_with_all_that_it_calls(name):
    text = prelude.used_complex_functions(f"y = pg_c128_{name}(x);", True)
    defined = re.findall(r"^PG_INLINE \w+ pg_c128_(\w+)\(", text, re.MULTILINE)
    assert defined == [one for one in EACH if one in defined] and name in defined
    assert set(re.findall(r"\bpg_c128_(\w+)\(", text)) == set(defined)
    assert "pg_c64" not in text


def test_nothing_comes_that_is_not_used():
    assert prelude.used_complex_functions("pg_c64 x; x.re = 1; pg_c64_other(x);", True) == ""
    text = prelude.used_complex_functions("pg_c64_add(pg_c64_make(1, 2), x)", True)
    assert re.findall(r"^PG_INLINE \w+ (\w+)\(", text, re.M) == ["pg_c64_make", "pg_c64_add"]


def test_without_double_precision_there_is_only_complex64():
    assert prelude.used_complex_functions("pg_c128_add(x, y)", False) == ""


def test_all_come_where_names_are_put_together():
    text = "#define F(a) pg_c64_##a(x)\nF(exp)"
    whole = prelude.complex_functions("c64")
    assert prelude.used_complex_functions(text, False) == whole
