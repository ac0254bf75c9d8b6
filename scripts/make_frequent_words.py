"""Make ``grounding/frequent_words.txt``: English words by frequency, from the vocabulary of the built-in embedder's tokenizer (Apache License 2.0).

That vocabulary lists whole words in order of frequency, so a word's place stands for how common it is. Run: ``python scripts/make_frequent_words.py``.
"""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKENIZER = ROOT / "search" / "embedding" / "weights" / "minilm" / "tokenizer.json"
COUNT = 12_000
FIRST_WORD = "the"


def main() -> None:
    """Write the file anew."""
    places: dict[str, int] = json.loads(TOKENIZER.read_text("utf-8"))["model"]["vocab"]
    ordered = sorted(places, key=places.__getitem__)
    words = [word for word in ordered[places[FIRST_WORD] :] if word.isascii() and word.isalpha() and len(word) > 1]
    (ROOT / "grounding" / "frequent_words.txt").write_text("\n".join(words[:COUNT]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
