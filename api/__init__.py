"""DOORS onto the same functions. No rules live here."""
