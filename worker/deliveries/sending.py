"""Every channel behind the resilience wrapper, one guard for each receiver's host, so that a dead one delays and opens nothing but itself."""

import threading
from collections import OrderedDict
from collections.abc import Mapping

from runtime.clock import Clock
from runtime.errors import Misconfigured
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import Settings
from runtime.tracing import span
from worker.deliveries.addresses import Resolve, resolved
from worker.deliveries.mail import MailSending, server_of
from worker.deliveries.parcels import Parcel, Sending
from worker.deliveries.posting import Poster
from worker.deliveries.receivers import Receiver
from worker.deliveries.slack import SlackSending
from worker.deliveries.stream import StreamSending
from worker.deliveries.webhook import WebhookSending, signing_key

MAX_GUARDS = 1000
CALLS_PER_HOST = 2
BULKHEAD_WAIT_S = 0.1


class Sender:
    """Sends parcels, one attempt each; when to repeat is decided where attempts are counted. Safe to share between threads."""

    def __init__(self, settings: Settings, clock: Clock, *, resolve: Resolve = resolved) -> None:
        poster = Poster(clock, private=settings.delivery_private_networks, resolve=resolve)
        self._settings = settings
        self._channels: Mapping[str, Sending] = {
            "webhook": WebhookSending(poster, settings.webhook_secret),
            "slack": SlackSending(poster),
            "email": MailSending(settings.smtp_url, settings.smtp_from),
            "stream": StreamSending(),
        }
        self._clock = clock
        self._guards: OrderedDict[str, Guard] = OrderedDict()
        self._lock = threading.Lock()

    def send(self, parcel: Parcel) -> None:
        """One attempt.

        Raises:
            Unavailable: repeating later makes sense; ``CircuitOpen`` when it was not even tried.
            InvalidRequest: the receiver refuses for good.
            Misconfigured: the channel lacks a setting.
        """
        receiver = parcel.delivery.receiver
        channel = self._channels[receiver.channel]
        with span(f"deliver {receiver.channel}", kind="client", channel=receiver.channel, delivery_id=parcel.delivery.delivery_id):
            self.guard(receiver).call(lambda timeout_s: channel.send(parcel, timeout_s), repeatable=False)

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Those of the hosts sent to lately."""
        with self._lock:
            return tuple(self._guards.values())

    def guard(self, receiver: Receiver) -> Guard:
        """The one guard of this receiver's host; those not used for long are forgotten."""
        with self._lock:
            guard = self._guards.pop(receiver.host, None) or self._made()
            self._guards[receiver.host] = guard
            while len(self._guards) > MAX_GUARDS:
                self._guards.popitem(last=False)
            return guard

    def _made(self) -> Guard:
        return Guard(
            "receiver",
            timeout_s=self._settings.delivery_timeout_s,
            clock=self._clock,
            bulkhead_calls=CALLS_PER_HOST,
            bulkhead_wait_s=BULKHEAD_WAIT_S,
            retry=RetryPolicy(attempts=1),
            breaker_failures=self._settings.breaker_failures,
            breaker_open_s=self._settings.breaker_open_s,
        )


def problem_of(receiver: Receiver, settings: Settings) -> str:
    """Why nothing can be sent to this receiver as things are, empty when nothing is known against it: to be told before an alert is lost."""
    try:
        if receiver.channel == "webhook":
            signing_key(settings.webhook_secret)
        if receiver.channel == "email":
            server_of(settings.smtp_url)
    except Misconfigured as error:
        return str(error)
    plain = receiver.channel in ("webhook", "slack") and not receiver.target.startswith("https://")
    return (
        "an address must begin with https:// unless WA_DELIVERY_PRIVATE_NETWORKS=true"
        if plain and not settings.delivery_private_networks
        else ""
    )
