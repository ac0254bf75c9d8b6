"""Signed webhooks, as the Standard Webhooks specification describes them."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from pydantic import SecretStr
from standardwebhooks import Webhook

from runtime.errors import Misconfigured
from worker.deliveries.parcels import Parcel
from worker.deliveries.payload import digest_payload
from worker.deliveries.posting import Poster

MIN_KEY_BYTES = 24


@dataclass(frozen=True, slots=True)
class WebhookSending:
    """Implements :class:`worker.deliveries.parcels.Sending`."""

    poster: Poster
    secret: SecretStr

    def send(self, parcel: Parcel, timeout_s: float) -> None:
        """See :class:`worker.deliveries.parcels.Sending`. The headers are ``webhook-id``, which is the idempotency key, ``webhook-timestamp`` and
        ``webhook-signature``."""
        key = signing_key(self.secret)
        body = json.dumps(webhook_body(parcel), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        identifier, at = parcel.delivery.message_id, parcel.at.astimezone(UTC)
        headers = {
            "content-type": "application/json",
            "user-agent": "WisdomAgent",
            "webhook-id": identifier,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(key).sign(identifier, at, body),
        }
        self.poster.post(parcel.delivery.receiver.target, body.encode(), headers, timeout_s)


def webhook_body(parcel: Parcel) -> dict[str, Any]:
    """The JSON that is signed. ``deliveryId`` is the same for a digest and its updates; ``webhook-id`` tells them apart."""
    return {
        "type": "digest.updated" if parcel.delivery.is_update else "digest.published",
        "timestamp": parcel.digest.updated_at.astimezone(UTC).isoformat(),
        "tenant": parcel.tenant,
        "deliveryId": parcel.delivery.delivery_id,
        "data": digest_payload(parcel.digest, parcel.link),
    }


def signing_key(secret: SecretStr) -> bytes:
    """The bytes of ``WA_WEBHOOK_SECRET``.

    Raises:
        Misconfigured: it is not there, or is no base64 of at least 24 bytes.
    """
    text = secret.get_secret_value().removeprefix("whsec_")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        key = b""
    if len(key) < MIN_KEY_BYTES:
        raise Misconfigured(
            f"WA_WEBHOOK_SECRET must be base64 of at least {MIN_KEY_BYTES} bytes, such as the output of: openssl rand -base64 32"
        )
    return key
