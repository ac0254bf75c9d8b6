"""MEASURE what ``ask`` answers and refuses: sets of cases with what is expected, metrics, a gate, reports. Nothing here answers by another path."""
