"""The generation of a tenant's documents, told only when everything up to it can be found: what is worked out then stays true as long as it stands."""

import threading
from collections import OrderedDict

from runtime.errors import ServiceError
from runtime.tenancy import Tenant
from search.ports import Engine

_MOST_TENANTS = 10_000


class Settled:
    """Where writes are found only after a while, a generation may stand before its documents do. One refresh for each generation and process settles it.
    Safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._known: OrderedDict[Tenant, int] = OrderedDict()

    def generation(self, tenant: Tenant) -> int | None:
        """The generation as of now; None when it cannot be settled.

        Raises:
            Unavailable: the engine cannot be reached.
        """
        generation = self._engine.generation(tenant)
        if not self._is_known(tenant, generation):
            try:
                self._engine.refresh(tenant)
            except ServiceError:  # a user who may only read, perhaps
                return None
            self._now_known(tenant, generation)
        return generation

    def stands(self, tenant: Tenant, generation: int) -> bool:
        """Whether it still is the generation.

        Raises:
            Unavailable: the engine cannot be reached.
        """
        return self._engine.generation(tenant) == generation

    def _is_known(self, tenant: Tenant, generation: int) -> bool:
        with self._lock:
            return self._known.get(tenant) == generation

    def _now_known(self, tenant: Tenant, generation: int) -> None:
        with self._lock:
            self._known.pop(tenant, None)
            self._known[tenant] = generation
            while len(self._known) > _MOST_TENANTS:
                self._known.popitem(last=False)
