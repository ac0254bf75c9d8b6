"""ANSWER claim by claim, or refuse."""
