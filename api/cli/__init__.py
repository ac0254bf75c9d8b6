"""The command line: options in, the same functions as every other door, tables and JSON out."""
