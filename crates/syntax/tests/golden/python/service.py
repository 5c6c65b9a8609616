"""The service."""
from __future__ import annotations

import os, sys
import os.path as path
import package.module
from typing import TYPE_CHECKING, Any as Anything
from . import sibling
from .. import uncle as relative
from ..pkg.mod import (
    One,
    Two as Second,  # a comment
)
from star import *

try:
    import ujson as json
except ImportError:
    import json

if TYPE_CHECKING:
    from .types import Request

__all__ = ["Service", "build"]
__all__ += ["LIMIT"]

# How many at most.
LIMIT = 10
_cache: dict[str, int] = {}
registry = build_registry(LIMIT)
first, second = 1, 2
type Pair[T] = tuple[T, T]


class Base:
    pass


# Above a decorator.
@register("service")
@other.decorator
class Service(Base, sibling.Mixin, Generic[T], metaclass=Meta):
    """Serves requests.

    For a long time.
    """

    DEFAULT = 5
    name: str = "service"

    def __init__(self, size: int = 3, *args, **kwargs) -> None:
        super().__init__(*args)
        self.size = size

    @property
    def width(self) -> int:
        'The width.'
        return self.size

    @staticmethod
    async def fetch(
        url: str,
        timeout: float = 1.0,
    ) -> bytes:
        import urllib.request
        from .inner import helper

        def wrapped():
            return helper(url)

        return await client.session().get(url, key=wrapped())

    class Meta:
        ordering = ["name"]


def build(*names: str) -> Service:
    r"""Builds a service."""
    local = 1
    return Service(path.join(*names))


def _private(): return lambda x: build(x)


async def main():
    # Not a doc of anything.
    await Service.fetch("x")


if __name__ == "__main__":
    main()
