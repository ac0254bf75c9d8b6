"""What a channel is handed: a digest as it is now, on its way to one receiver."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.tenancy import Tenant
from worker.deliveries.record import Delivery
from worker.monitors.digest import Digest


@dataclass(frozen=True, slots=True)
class Parcel:
    """One digest for one receiver, and the instant of this attempt."""

    tenant: Tenant
    delivery: Delivery
    digest: Digest
    at: datetime
    link: str = ""
    """Where people can look at the digest; empty when that is not known."""

    @property
    def headline(self) -> str:
        """One line that says what it is: ``[critical] Card payments: fired``."""
        update = "Update: " if self.delivery.is_update else ""
        return f"{update}[{self.digest.severity}] {' '.join(self.digest.monitor_name.split())}"


class Sending(Protocol):
    """One channel. Safe to share between threads."""

    def send(self, parcel: Parcel, timeout_s: float) -> None:
        """Returns when the receiver has taken the parcel. Sending it twice does no harm: its ``message_id`` says that it is the same.

        Raises:
            Unavailable: repeating later makes sense.
            InvalidRequest: the receiver or its address refuses for good.
            Misconfigured: the channel lacks a setting.
        """
        ...
