"""Share of all cases whose run raised an error instead of answering or refusing; plain counting, no source."""

from grounding.evaluation.metrics.metric import Metric, share

METRIC = Metric("error_rate", "Errors", lambda result: share(result.ended == "error"), "there is no case", higher_is_better=False)
