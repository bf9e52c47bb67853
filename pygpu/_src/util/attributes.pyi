"""The type of attributes in the stubs of C modules, for type checkers alone."""

from typing import Any, Generic, Never, Self, TypeVar, overload

_T_co = TypeVar("_T_co", covariant=True)

class ReadOnly(Generic[_T_co]):
    """An attribute that cannot be assigned to."""
    @overload
    def __get__(self, obj: None, cls: Any, /) -> Self: ...
    @overload
    def __get__(self, obj: object, cls: Any, /) -> _T_co: ...
    def __set__(self, obj: object, value: Never, /) -> None: ...
