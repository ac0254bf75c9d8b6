"""Share of all cases in which everything expected holds: the outcome, the reason of a refusal, facts, numbers, a right document, true quotes.

Exact match as for question answering (Rajpurkar et al. 2016, arXiv 1606.05250), with the case's whole expectation in place of one string. A case that
raised an error is not exact.
"""

from grounding.evaluation.metrics.metric import Metric, share

METRIC = Metric("exact_rate", "Exact", lambda result: share(result.exact), "there is no case")
