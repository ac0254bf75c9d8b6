"""How attribute values compare: by their text, so that ``5``, ``5.0`` and ``"5"`` are one value on every engine and from every kind of file."""

from search.documents import Scalar


def attribute_text(value: Scalar) -> str:
    """``true``/``false`` for booleans, no ``.0`` on whole numbers, text as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
