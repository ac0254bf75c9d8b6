"""Make ``api/sample/banking77.jsonl``: a balanced sample of BANKING77, with times, accounts and sources assigned by a fixed seed.

    python scripts/make_sample.py PATH/banking_data__train.csv

Only text and intent come from the data set. Everything else is a hash of the text, and every record says so in ``attributes.assigned``.
The same file makes the same sample on every machine.
"""

import argparse
import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

SEED = "wisdomagent banking77 sample 1"
PER_INTENT = 39
FIRST_DAY = datetime(2026, 6, 1, tzinfo=UTC)
DAYS = 182
ACCOUNTS = 200
SOURCES = ("chat", "chat", "chat", "app", "app", "email")
ASSIGNED = "occurred_at,account_id,source"
SAMPLE = Path(__file__).resolve().parents[1] / "api" / "sample" / "banking77.jsonl"


def draw(purpose: str, text: str, below: int) -> int:
    """A number in ``0..below-1`` that depends on nothing but the seed, the purpose and the text."""
    digest = hashlib.sha256(f"{SEED}\x1f{purpose}\x1f{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


def messages(train: Path) -> Iterator[tuple[str, str]]:
    """Text and intent of every row; texts may hold newlines inside quotes, and a few differ from another only in space around them."""
    seen = set()
    with train.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            text = row["text"].strip()
            if text not in seen:
                yield text, row["category"]
            seen.add(text)


def balanced(rows: Iterable[tuple[str, str]], per_intent: int = PER_INTENT) -> list[tuple[str, str]]:
    """At most ``per_intent`` messages of each intent, chosen by the seed."""
    by_intent: dict[str, list[str]] = defaultdict(list)
    for text, intent in rows:
        by_intent[intent].append(text)
    return [
        (text, intent)
        for intent, texts in sorted(by_intent.items())
        for text in sorted(texts, key=lambda text: (draw("pick", text, 2**62), text))[:per_intent]
    ]


def record(text: str, intent: str) -> dict[str, object]:
    """One document as ``wisdom ingest`` reads it."""
    seconds = draw("second", text, 24 * 3600)
    occurred_at = FIRST_DAY + timedelta(days=draw("day", text, DAYS), seconds=seconds)
    return {
        "doc_id": "bank-" + hashlib.sha256(text.encode()).hexdigest()[:10],
        "text": text,
        "theme_id": intent,
        "occurred_at": occurred_at.isoformat().replace("+00:00", "Z"),
        "account_id": f"acct-{1 + draw('account', text, ACCOUNTS):03d}",
        "source": SOURCES[draw("source", text, len(SOURCES))],
        "language": "en",
        "attributes": {"assigned": ASSIGNED},
    }


def main() -> None:
    """Read the training file named on the command line and write the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="banking_data__train.csv of BANKING77")
    parser.add_argument("--out", type=Path, default=SAMPLE)
    arguments = parser.parse_args()
    records = [record(text, intent) for text, intent in balanced(messages(arguments.train))]
    records.sort(key=lambda made: (made["occurred_at"], made["doc_id"]))
    lines = [json.dumps(made, ensure_ascii=False) for made in records]
    arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{len(lines)} messages, {len({made['theme_id'] for made in records})} intents -> {arguments.out.name}")


if __name__ == "__main__":
    main()
