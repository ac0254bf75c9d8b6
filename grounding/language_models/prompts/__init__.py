"""The prompts, one file each; the first line is the version that traces name."""
