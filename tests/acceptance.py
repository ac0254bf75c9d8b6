"""Every promise of the product with the tests that hold it, as data. ``tests/docs/test_acceptance.py`` checks it both ways: every test named
here exists, and every test file is behind some promise.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promise:
    """What a user may rely on. ``tests`` are ``file`` or ``file::test``, below ``tests/``; ``benchmarks`` are modules that measure it."""

    area: str
    text: str
    tests: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()


CLI = "api/cli"
EVALUATION = "grounding/evaluation"
DOORS = "doors"
MODELS = "grounding/language_models"
ENGINE = "contracts/test_engine_contract.py"
COUNTS = "contracts/test_aggregate_contract.py"
LEGS = "contracts/test_legs_contract.py"
INGEST = "search/ingest"
JOBS = "worker/jobs"
MONITORS = "worker/monitors"
QUEUES = "worker/queues"
DELIVERIES = "worker/deliveries"
ENGINES = "search/engines"
ANSWERS = "grounding/test_answering.py"
VERIFIER = "grounding/test_verification.py"

PROMISES: tuple[Promise, ...] = (
    # What a newcomer does
    Promise("newcomer", "make demo shows a cited answer, a refusal and a count with its documents", (f"{CLI}/test_demo.py",)),
    Promise("newcomer", "the commands the demo prints work when pasted", (f"{CLI}/test_demo.py::test_the_commands_it_prints_work_when_pasted",)),
    Promise("newcomer", "the sample is real, balanced, attributed, and says what is assigned", ("api/sample/test_sample.py",)),
    Promise("newcomer", "the docs agree with the code and their links lead somewhere", ("docs/test_reference_pages.py", "docs/test_acceptance.py")),
    # Documents in
    Promise("documents", "e-mail, phone, card and IBAN are masked before anything is stored; numbers that are none stay", (f"{INGEST}/test_masking.py",)),
    Promise("documents", "CSV, JSON Lines and JSON arrays, files and streams, delimiter and encoding detected or given",
            (f"{INGEST}/test_files.py", f"{INGEST}/test_csv_rows.py", f"{INGEST}/test_json_rows.py", f"{INGEST}/test_encodings.py")),
    Promise("documents", "columns are mapped by name or by hand, and nothing unknown is dropped silently",
            (f"{INGEST}/test_columns.py", f"{INGEST}/test_attributes.py")),
    Promise("documents", "every bad field is rejected by name and sinks nothing else", (f"{INGEST}/test_parsing.py", f"{INGEST}/test_cases.py")),
    Promise("documents", "day and month are never guessed in silence", (f"{INGEST}/test_dates.py",)),
    Promise("documents", "the report reconciles on every path",
            (f"{INGEST}/test_pipeline.py::test_every_report_adds_up_and_agrees_with_the_store", f"{INGEST}/test_report.py")),
    Promise("documents", "a replay indexes nothing", (f"{INGEST}/test_pipeline.py::test_a_replay_stores_nothing_and_embeds_nothing",)),
    Promise("documents", "an older version never overwrites a newer one", (f"{ENGINE}::test_an_older_version_never_overwrites_a_newer_one",)),
    Promise("documents", "two writers at once lose nothing",
            (f"{INGEST}/test_interruption.py::test_two_threads_with_overlapping_documents_lose_nothing",
             f"{ENGINES}/test_embedded_processes.py::test_two_processes_writing_at_once_lose_nothing",
             f"{ENGINES}/test_opensearch_writing.py")),
    Promise("documents", "equal texts are grouped, not dropped: one place in the evidence, all counted, all citable",
            ("grounding/test_findings.py", f"{ENGINE}::test_members_are_counted_under_the_filters_with_the_first_ids")),
    Promise("documents", "progress with rate and remaining time on a terminal, plain lines otherwise", (f"{CLI}/test_progress.py",)),
    Promise("documents", "Ctrl-C leaves a consistent store and running again resumes",
            (f"{CLI}/test_processes.py::test_an_interrupt_leaves_a_true_partial_report_and_running_again_resumes", f"{INGEST}/test_interruption.py")),
    Promise("documents", "delete by id, account and tenant, from the next request on",
            (f"{ENGINE}::test_a_deleted_document_is_gone_from_everything_at_once", f"{INGEST}/test_erasure.py", f"{CLI}/test_deleting.py")),
    Promise("documents", "a changed date moves the document and never doubles it",
            (f"{ENGINE}::test_a_changed_instant_moves_the_document_across_months",)),
    Promise("documents", "rows handed to the worker are stored as in the foreground: same rejections, same warnings, same reconciled report",
            (f"{JOBS}/test_ingest_jobs.py", f"{CLI}/test_jobs.py", f"{DOORS}/test_jobs.py")),
    Promise("documents", "a job survives kill -9 at any point and two workers at once, and counts every row once", (f"{JOBS}/test_crashes.py",)),
    Promise("documents", "a job can be cancelled and a failed one tried again; what breaks off says so", (f"{JOBS}/test_stopping.py",)),
    Promise("documents", "a million rows of one tenant do not come before ten rows of another", (f"{JOBS}/test_fairness.py",)),
    Promise("documents", "handing rows in streams: memory does not grow with the input", (f"{JOBS}/test_memory.py",)),
    Promise("documents", "a dry run shows mapping, documents and rejections, and stores nothing", (f"{INGEST}/test_preview.py",)),
    Promise("documents", "long documents are cut into passages with exact offsets", ("search/test_passages.py",)),
    # Find
    Promise("find", "the shipped embedder is within .998 of fp32, and a vector depends on its text alone", ("search/embedding/test_minilm.py",)),
    Promise("find", "both engines pass one contract suite", (ENGINE, LEGS, COUNTS, "contracts/test_state_contract.py")),
    Promise("find", "the embedded engine survives kill -9, other processes, full disks and foreign files",
            (f"{ENGINES}/test_embedded_faults.py", f"{ENGINES}/test_embedded_processes.py")),
    Promise("find", "the index remembers its model; another one is refused with the way out",
            (f"{ENGINES}/test_embedded_faults.py::test_another_model_is_refused_with_both_names_and_the_way_out",
             f"{ENGINES}/test_opensearch_indices.py::test_another_model_or_dimension_is_refused_and_both_are_named")),
    Promise("find", "BM25 is Lucene's formula over Lucene's analysis",
            (f"{ENGINES}/test_lexical.py", "search/test_analysis.py", "search/test_porter.py")),
    Promise("find", "vectors of the embedded engine are exact", (f"{ENGINES}/test_dense.py",)),
    Promise("find", "filters narrow everything and a filter that matches nothing is an empty result",
            (f"{ENGINE}::test_only_what_passes_every_filter_is_listed_searched_and_counted", "search/test_filters.py", f"{CLI}/test_narrowing.py")),
    Promise("find", "OpenSearch: names that cannot meet, strict mappings, both legs in one round trip, every error translated",
            (f"{ENGINES}/test_opensearch_names.py", f"{ENGINES}/test_opensearch_indices.py", f"{ENGINES}/test_opensearch_queries.py",
             f"{ENGINES}/test_opensearch_reading.py", f"{ENGINES}/test_opensearch_errors.py", f"{ENGINES}/test_opensearch_items.py",
             f"{ENGINES}/test_opensearch_changes.py")),
    Promise(
        "find",
        "fusion and reranking are explained to the last addend; codes, phrases and odd questions behave",
        ("search/test_fusion.py", "search/test_reranking.py", "search/test_query_shape.py", "search/test_retrieval.py", "search/test_term_table.py"),
        ("benchmarks.retrieval_quality",),
    ),
    Promise(
        "find",
        "the same documents and question give the same result on both engines",
        (f"{ENGINES}/test_parity.py", f"{ENGINES}/test_ordering.py", f"{ENGINES}/test_attribute_terms.py"),
        ("benchmarks.parity",),
    ),
    Promise("find", "an OpenSearch that dies, is slow or is something else is named, and works again unaided", ("faults/test_opensearch_faults.py",)),
    Promise("find", "a server that cannot be had is named, and fails the run where it must be there", ("test_live_servers.py",)),
    Promise(
        "find",
        "the embedder may be an OpenAI-compatible endpoint or any sentence-transformers model",
        ("search/embedding/test_openai.py", "search/embedding/test_opening.py", "extras/test_sentence_transformers.py"),
    ),
    Promise("answer", "the same claims and citations on both engines", ("grounding/test_both_engines.py",)),
    Promise("answer", "answers over whole corpora are what an analyst would trust", ("grounding/test_trust.py",)),
    # Events
    Promise("events", "an event is kept with the state change it tells of, or neither is, on both engines and whenever the process dies",
            ("contracts/test_state_contract.py", f"{ENGINES}/test_embedded_outbox.py", f"{ENGINES}/test_told.py")),
    Promise("events", "a bus in process and one over Redis Streams pass one contract suite",
            ("contracts/test_bus_contract.py", "worker/events/test_redis_bus.py")),
    Promise("events", "events are relayed and counted exactly once, through kill -9, redelivery, double relays and unsound events, and again the same",
            ("worker/events/test_relaying.py", "worker/events/test_projections.py")),
    Promise("events", "counts by day, theme and source equal the engine's; what was asked and not answered is named; right without a worker too",
            ("worker/events/test_insights.py", f"{DOORS}/test_insights.py", f"{CLI}/test_stats.py")),
    # Aggregates
    Promise("aggregates", "counts are exact over all matching documents, with ids, denominator and the share without a theme",
            (COUNTS, "search/test_aggregation.py")),
    Promise("aggregates", "days are local days, empty buckets included", (f"{ENGINES}/test_intervals.py",)),
    Promise("aggregates", "a number is verified by running its aggregation again",
            ("grounding/test_counting.py::test_what_the_aggregation_gives_is_supported",
             "grounding/test_counting.py::test_documents_that_change_meanwhile_break_the_proof")),
    # Answer, or refuse
    Promise("answer", "gates in order, every refusal typed with its numbers and the nearest documents", (ANSWERS,)),
    Promise("answer", "the plan reads intent, themes, accounts, time, codes and parts off the question",
            ("grounding/test_planning.py", "grounding/test_channels.py", "grounding/test_tallies.py",
             "grounding/test_periods.py", "grounding/test_ratings.py", "grounding/test_asking.py")),
    Promise("answer", "the budget is checked at every step", ("grounding/test_budget.py",)),
    Promise("answer", "off-topic questions are under the relevance floor", ("grounding/test_relevance.py",), ("benchmarks.gates",)),
    Promise("answer", "a question that nobody answers is refused, naming what is missing",
            ("grounding/test_answerability.py", "grounding/test_predicates.py", "grounding/test_answer_types.py"), ("benchmarks.gates",)),
    Promise("answer", "every citation supports its claim by itself; vetoes for numbers, dates, negation, names and codes",
            (VERIFIER, "grounding/test_vetoes.py", "grounding/test_name_matching.py", "grounding/test_matching.py",
             "grounding/test_quantities.py", "grounding/test_calendar_words.py", "grounding/test_polarity.py", "grounding/test_absence.py"),
            ("benchmarks.verifier",)),
    Promise("answer", "sentences and languages are told apart with exact offsets", ("grounding/test_sentences.py", "grounding/test_languages.py")),
    Promise("answer", "near copies are one finding with all its citations and a count", ("grounding/test_findings.py",)),
    Promise("answer", "counts, shares, rankings, comparisons and trends obey their numbers", ("grounding/test_counting.py",)),
    Promise("answer", "the same store, question and settings give the same bytes",
            (f"{ANSWERS}::test_the_same_store_question_and_settings_give_the_same_bytes",)),
    Promise("answer", "traces are kept, also of failed runs, and withhold what was deleted", ("grounding/test_traces.py",)),
    Promise("answer", "the words of deleted documents leave the stored traces", ("worker/test_scrubbing.py",)),
    # Doors
    Promise("doors", "one answer through every door", (f"{DOORS}/test_same_answer.py",)),
    Promise("doors", "the command line: exit codes, help, hostile text, broken pipes",
            (f"{CLI}/test_usage.py", f"{CLI}/test_reading.py", f"{CLI}/test_ingesting.py", f"{CLI}/test_views.py", f"{CLI}/test_visible.py",
             f"{CLI}/test_grid.py", f"{CLI}/test_failures.py", f"{CLI}/test_processes.py")),
    Promise("doors", "GraphQL passes the public audits 61 of 61, with limits and masked faults",
            (f"{DOORS}/test_graphql_http.py", f"{DOORS}/test_graphql_operations.py", f"{DOORS}/test_schema.py")),
    Promise("doors", "MCP over HTTP and stdio, by the official client and the public conformance suite",
            (f"{DOORS}/test_mcp.py", f"{DOORS}/test_mcp_conformance.py")),
    Promise("doors", "REST, operations routes and the console page", (f"{DOORS}/test_rest.py", f"{DOORS}/test_console.py")),
    Promise("doors", "the tenant is decided in one place, and development mode stays on loopback", (f"{DOORS}/test_tenancy.py",)),
    Promise("security", "no credential that is missing, forged, expired, revoked, of another issuer or for another door opens one",
            (f"{DOORS}/test_credentials.py", f"{DOORS}/test_negative_matrix.py")),
    Promise("security", "REST and GraphQL keep to their descriptions whatever is sent, and the twelve checks of graphql-cop find nothing",
            (f"{DOORS}/test_schemathesis.py", f"{DOORS}/test_graphql_cop.py")),
    Promise("security", "a hundred thousand hostile requests over all doors: no error nobody planned, nothing of another tenant, flat memory",
            ("fuzz/test_hostile.py",), ("benchmarks.hostile",)),
    Promise("security", "API keys are shown once, kept as hashes under a pepper, and end when they are revoked", ("api/identity/test_keys.py",)),
    Promise("security", "the issuer's keys are read when they change and never in a storm; while it is away nobody is called a stranger",
            ("api/identity/test_issuer_keys.py",)),
    Promise("security", "no field, tool, route or command shows or changes another tenant's data, on either engine; new ones are covered by themselves",
            (f"{DOORS}/test_isolation.py",)),
    Promise("security", "every field, tool and route has a scope, a rate and a line in the audit log", ("api/identity/test_rights.py",)),
    Promise("doors", "one table of errors; sizes, hosts, origins and threads are bounded",
            (f"{DOORS}/test_errors.py", f"{DOORS}/test_edge.py", f"{DOORS}/test_threads.py", f"{DOORS}/test_engine_down.py")),
    # Settings and logs
    Promise("settings", "one readable error lists every bad setting; secrets are masked", ("runtime/test_settings.py",)),
    Promise("settings", "doctor checks engine, model, disk and clock", (f"{CLI}/test_doctor.py",)),
    Promise("settings", "every log line is JSON with a correlation id; metrics are bounded", ("runtime/test_telemetry.py", "runtime/test_guard_metrics.py")),
    Promise("operations", "metrics are those of one table, in both formats, with the trace or correlation id as exemplar", (f"{DOORS}/test_metrics.py",)),
    Promise("operations", "every alert fires when it should, is silent when it should, and leads to a runbook",
            ("monitoring/test_rules.py", "monitoring/test_runbooks.py")),
    Promise("operations", "rules and boards name metrics that exist, and every metric is shown",
            ("monitoring/test_metrics_named.py", "monitoring/test_boards.py")),
    Promise("operations", "a board of OpenSearch Dashboards: every field mapped, every panel shows what happened, of one tenant where asked; imported whole",
            ("dashboards/test_live_mapping.py", "dashboards/test_saved_objects.py", "dashboards/test_importing.py")),
    Promise("operations", "every ingest leaves a record of its counts and rejections, and nothing of a row", (f"{INGEST}/test_records.py",)),
    Promise("operations", "alerts reach whom they should; one cause is one message", ("monitoring/test_alertmanager.py",)),
    Promise("operations", "a real Prometheus scrapes the server, evaluates every rule and keeps exemplars", ("monitoring/test_prometheus.py",)),
    # Bad input
    Promise("bad input", "every shared case holds, through Python and through the web doors", ("cases/test_cases.py", f"{DOORS}/test_cases.py")),
    Promise("bad input", "calls that leave the process pass bulkhead, breaker, retry and timeout", ("runtime/test_resilience.py",)),
    # Monitors
    Promise("worker", "two workers and two beats, or two local workers, killed at random: every due window evaluated, one digest each",
            (f"{QUEUES}/test_chaos.py",)),
    Promise("worker", "poison becomes a visible dead letter after bounded attempts and delays nobody; it can be retried or dropped",
            (f"{QUEUES}/test_celery.py::test_poison_becomes_a_dead_letter_after_bounded_attempts_and_the_others_go_on",
             f"{QUEUES}/test_dead_letters.py", f"{QUEUES}/test_attempts.py", f"{CLI}/test_worker.py")),
    Promise("worker", "a broker or a worker that is killed costs time only; SIGTERM finishes what runs",
            (f"{QUEUES}/test_celery.py", f"{QUEUES}/test_broker.py", f"{QUEUES}/test_broker_errors.py")),
    Promise("worker", "a broker that is down changes no answer; readiness, doctor and a metric say that monitors are late", (f"{DOORS}/test_broker_down.py",)),
    Promise("worker", "without a broker one process does the same, and no slow tenant or duty delays another",
            (f"{QUEUES}/test_local.py", f"{QUEUES}/test_turns.py")),
    Promise("monitors", "the states are a pure function: every arrow, no flapping, no digest in a cooldown, a clock that steps back does no harm",
            (f"{MONITORS}/test_machine.py",)),
    Promise("monitors", "two schedulers, a redelivery, or a death between any two writes give one digest and one transition, on both stores",
            ("contracts/test_monitors_contract.py", f"{MONITORS}/test_killed.py", f"{MONITORS}/test_shared_cases.py")),
    Promise("monitors", "late documents re-evaluate their window and update its digest in place; what cannot be seen is never clear",
            (f"{MONITORS}/test_evaluating.py",)),
    Promise("monitors", "a condition is computed over every document of the window, the same that a question that counts counts, with its proof",
            (f"{MONITORS}/test_observing.py", f"{MONITORS}/test_conditions.py")),
    Promise("monitors", "a digest carries the claims that anybody who asks is given",
            (f"{MONITORS}/test_observing.py::test_a_whole_firing_over_real_documents",)),
    Promise("monitors", "a monitor that cannot be read says which field is wrong", (f"{MONITORS}/test_reading.py",)),
    Promise("monitors", "the command line saves, lists, shows, pauses, acknowledges, evaluates and runs them, and shows digests", (f"{CLI}/test_monitors.py",)),
    # Deliveries and subscriptions
    Promise("deliveries", "a digest arrives signed, under one idempotency key; an update is an update and never a new alert",
            (f"{DELIVERIES}/test_delivering.py", "docs/test_deliveries_page.py")),
    Promise("deliveries", "attempts are bounded and spread; what did not arrive is seen and can be sent again",
            (f"{DELIVERIES}/test_waiting.py", f"{CLI}/test_deliveries.py",
             f"{DELIVERIES}/test_delivering.py::test_attempts_are_bounded_and_what_was_given_up_is_seen_and_can_be_sent_again")),
    Promise("deliveries", "a dead receiver comes before nobody; a worker that dies sends at most a second copy under the same key",
            ("contracts/test_deliveries_contract.py",
             f"{DELIVERIES}/test_delivering.py::test_a_dead_receiver_is_tried_once_a_tick_and_comes_before_nobody",
             f"{DELIVERIES}/test_delivering.py::test_a_worker_that_dies_at_any_write_leaves_at_most_a_second_copy_under_the_same_key")),
    Promise("deliveries", "inner servers cannot be reached, addresses stay secret, text of documents stays text",
            (f"{DELIVERIES}/test_posting.py", f"{DELIVERIES}/test_receivers.py", f"{DELIVERIES}/test_slack.py", f"{DELIVERIES}/test_mail.py")),
    Promise("deliveries", "monitors and digests through GraphQL, MCP and the command line are the same", (f"{DOORS}/test_monitors.py",)),
    Promise("deliveries", "a subscriber is told of every digest; one that comes back with the last id misses nothing", (f"{DOORS}/test_subscriptions.py",)),
    Promise("security", "a credential has one bucket for all processes in Redis, and this process's own while Redis is away",
            ("api/identity/test_shared_rates.py",)),
    # Cache
    Promise("cache", "what is given again is the same to the last byte, over the same documents, on the same day, and never because of what the cache says",
            ("grounding/test_answer_cache.py",)),
    Promise("cache", "entries are signed, about what was asked and of the right type, or they are nothing; a broken Redis costs time and nothing else",
            ("search/caching/test_sealing.py", "search/caching/test_strict.py", "search/caching/test_redis_link.py", "grounding/test_answer_cache.py")),
    Promise("cache", "it is bounded in entries, bytes and time; tenants share nothing in it, and what is erased is taken out",
            ("search/caching/test_memory.py", "contracts/test_cache_contract.py")),
    # Evaluation
    Promise("evaluation", "every metric is checked by hand, has a source, and is undefined with a reason rather than not a number",
            (f"{EVALUATION}/test_metrics.py", f"{EVALUATION}/test_grading.py")),
    Promise("evaluation", "refusing everything, answering everything and failing every time pass no gate", (f"{EVALUATION}/test_trivial_systems.py",)),
    Promise("evaluation", "the gate names what failed and what changed since the baseline; its exit code is 5",
            (f"{EVALUATION}/test_gate.py", f"{CLI}/test_evaluations.py")),
    Promise("evaluation", "cases are asked through ask; one that raises is an error of that case; the same store gives the same results",
            (f"{EVALUATION}/test_running.py",)),
    Promise("evaluation", "sets are validated by row and field; 180 cases of the sample are counted again by plain Python",
            (f"{EVALUATION}/test_set_files.py", f"{EVALUATION}/test_banking_set.py")),
    Promise("evaluation", "public sets are built from the user's own files, with their traps handled", (f"{EVALUATION}/test_builders.py",)),
    Promise("evaluation", "reports are kept with their event, and exported as JSON, Markdown and one HTML file that loads nothing",
            (f"{EVALUATION}/test_reports.py", f"{EVALUATION}/test_exports.py", "contracts/test_evaluations_contract.py")),
    Promise("evaluation", "the worker runs scheduled ones in chunks; a death costs one chunk and never a second report",
            ("worker/evaluations/test_scheduled.py",)),
    Promise("evaluation", "evaluations through GraphQL stay within a tenant and within bounds", (f"{DOORS}/test_evaluations.py",)),
    # Language models
    Promise("language models", "every way in which a model fails leads to the second one, then to the documents, and the answer says so",
            (f"{MODELS}/test_falling_back.py",)),
    Promise("language models", "a model words claims and cites labels; it invents no id, figure, link or word, and is never asked for a number",
            (f"{MODELS}/test_roles.py", f"{MODELS}/test_pieces.py")),
    Promise("language models", "a judge can only lower a verdict; a planner only words a second search",
            (f"{MODELS}/test_roles.py::test_a_verdict_can_be_lowered_and_never_raised",
             f"{MODELS}/test_roles.py::test_filters_and_tenants_are_not_its_to_choose")),
    Promise("language models", "nothing in a document becomes an instruction or an uncited claim, in 15 languages, with a model that obeys every document",
            (f"{MODELS}/test_injections.py",)),
    Promise("language models", "without one nothing changes", (f"{MODELS}/test_falling_back.py::test_without_a_model_nothing_changes",)),
    Promise("language models", "wisdom doctor says of each endpoint whether it answers, with its key masked",
            (f"{CLI}/test_doctor.py::test_language_models_are_asked_whether_they_answer_and_keys_are_masked",)),
    # Deployment
    Promise("deployment", "compose.yaml agrees with its specification and with the code: settings, ports, hosts, files, secrets, versions, rights",
            ("deployment/test_compose.py",)),
    # Over time
    Promise("over time", "retention takes whole months by when documents occurred, shows first, and drops nothing that this program did not make",
            ("search/moving/test_retention.py", f"{CLI}/test_retention.py")),
    Promise("over time", "a store moves into another one of either engine, by count and hash, after kill -9 too, and answers the same there",
            ("search/moving/test_migration.py", f"{CLI}/test_migrate.py")),
    Promise("over time", "a backup is of one moment while others write, is checked before it comes back, and gives identical answers on both engines",
            (f"{CLI}/test_backup.py", "search/moving/test_snapshot.py")),
    # Speed
    Promise("speed", "folds never share a group", ("benchmarks/test_folds.py",)),
    Promise("speed", "quality, speed, memory and growth are measured beside a peer or a limit",
            benchmarks=("benchmarks.retrieval_quality", "benchmarks.parity", "benchmarks.speed", "benchmarks.complexity")),
)  # fmt: skip
