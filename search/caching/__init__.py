"""What was worked out a moment ago, kept for a while. Nothing here is needed for an answer to be right."""
