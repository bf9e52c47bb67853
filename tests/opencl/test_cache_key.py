"""The key of a program in the cache of binaries: what counts, and what cannot be known."""

import pytest

from pygpu._src.runtime import disk_cache as cache


@pytest.mark.parametrize(
    "include",
    [
        '# include "h.h"',
        '  #\tinclude  "h.h" // comment',
        "#include <h.h>",
        '#/**/include/* x */"h.h"',
        '/* several\nlines */ #include "h.h"',
        '#\\\ninclude "h.h"',
        '#inc\\\nlude "h.h"',
    ],
)
def test_forms_of_include(tmp_path, include):
    (tmp_path / "h.h").write_text("// one")
    words = ["-I", str(tmp_path)]
    before = cache.keys(include.encode(), words, [])
    scan = cache._Scan([str(tmp_path)])
    scan.scan(include.encode())
    assert scan.complete and [name for name, content in scan.found] == ["h.h"]
    assert scan.found[0][1] == b"// one"
    assert before == []


@pytest.mark.parametrize(
    "text",
    [
        "#define H <h.h>\n#include H\n",
        "int t = __LINE__; char *d = __DATE__;",
        "char *d = __TIME__;",
        "#if __has_include(<h.h>)\n#endif\n",
    ],
)
def test_what_cannot_be_known_is_not_cached(text):
    assert cache.keys(text.encode(), [], []) is None


def test_commented_include_is_none():
    scan = cache._Scan([])
    scan.scan(b'// #include "a.h"\n/*\n#include "b.h"\n*/\nint a; // include')
    assert scan.complete and scan.found == []


def test_environment_of_the_driver_counts(device, monkeypatch):
    monkeypatch.setenv("CL_CONFIG_TEST", "1")
    before = cache.keys(b"x", [], [device])
    monkeypatch.setenv("CL_CONFIG_TEST", "2")
    assert cache.keys(b"x", [], [device]) != before


def test_device_counts(device):
    class Other:
        def __getattr__(self, name):
            return "other" if name == "driver_version" else getattr(device, name)

    assert cache.keys(b"x", [], [Other()]) != cache.keys(b"x", [], [device])


def test_parts_of_a_key_do_not_run_together():
    assert cache.keys(b"ab", ["c"], []) == []
    found = {
        tuple(cache.keys(source, words, [_Anything()]))
        for source, words in [(b"ab", ["c"]), (b"a", ["bc"]), (b"a", ["b", "c"]), (b"abc", [])]
    }
    assert len(found) == 4


class _Anything:
    """A device all of whose information is the same."""

    def __getattr__(self, name):
        return _Anything() if name == "platform" else name
