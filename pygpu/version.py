"""Version of pygpu, also as PyOpenCL spells it, and of the array API standard."""

VERSION = (0, 1, 0)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS

_OLDER = ("2021.12", "2022.12", "2023.12", "2024.12")
ARRAY_API: dict[str | None, str] = {
    **dict.fromkeys(_OLDER, "xp.v2024_12"),
    **dict.fromkeys(("2025.12", None), "xp"),
}
"""The module of pygpu for each version of the standard; None is the latest."""
