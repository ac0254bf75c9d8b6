"""The tenant: the security boundary. Always the first argument; never optional, never defaulted below a door."""

import re
from typing import NewType

from runtime.errors import InvalidRequest

Tenant = NewType("Tenant", str)

HOUSE = Tenant("_house")
"""Whose state belongs to the service itself. No door can name it: :func:`tenant_named` refuses it."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")


def tenant_named(name: object) -> Tenant:
    """The tenant called ``name``.

    Raises:
        InvalidRequest: the name is not 1 to 40 lower-case letters, digits, ``-`` or ``_`` that begin with a letter or digit.
    """
    if not isinstance(name, str) or not _NAME.match(name):
        raise InvalidRequest("must be 1 to 40 lower-case letters, digits, '-' or '_', beginning with a letter or digit", field="tenant")
    return Tenant(name)
