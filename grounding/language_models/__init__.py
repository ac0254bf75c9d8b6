"""Language models, for fluency and never for truth: a planner, a drafter and a judge behind OpenAI-compatible servers. All optional."""
