"""The event stream: the event of a digest was kept with the digest itself, so that there is nothing left to send."""

from worker.deliveries.parcels import Parcel


class StreamSending:
    """Implements :class:`worker.deliveries.parcels.Sending`. Confirms: ``digest.published`` is in the outbox or beyond it since the digest exists."""

    def send(self, parcel: Parcel, timeout_s: float) -> None:
        """See :class:`worker.deliveries.parcels.Sending`."""
