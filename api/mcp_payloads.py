"""What MCP tools take and return, typed: the models become the published schemas. snake_case, as the tools' clients parse it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Query = Annotated[str, Field(min_length=1, description='Words, codes or "quoted phrases"')]
Match = Annotated[str | None, Field(description='Count only documents that hold every content word and "quoted phrase" of this text')]
Zone = Annotated[str | None, Field(description="Zone of local days, such as Europe/Paris; the server's own when left out")]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FilterArguments(_Arguments):
    """Which documents a call may look at. Values within one field are alternatives; fields must all hold."""

    since: str | None = Field(None, description="Earliest time, inclusive: 2026-03-04 (a local day) or 2026-03-04T09:12:00Z")
    until: str | None = Field(None, description="Latest time, inclusive: a local day means all of it")
    sources: list[str] | None = Field(None, description="Kinds of source")
    theme_ids: list[str] | None = Field(None, description="Themes")
    account_ids: list[str] | None = Field(None, description="Accounts")
    doc_ids: list[str] | None = Field(None, description="Documents")
    rating_min: float | None = Field(None, description="Lowest rating, inclusive")
    rating_max: float | None = Field(None, description="Highest rating, inclusive")
    attributes: dict[str, str | int | float | bool] | None = Field(None, description="Attributes that must all have these values")


Chosen = Annotated[FilterArguments | None, Field(description="Which documents to look at")]


class SearchArguments(_Arguments):
    """Arguments of search_feedback."""

    query: Query
    limit: int = Field(10, ge=1, le=100, description="How many hits")
    filters: Chosen = None


class ThemeArguments(_Arguments):
    """Arguments of aggregate_by_theme."""

    query: Match = None
    limit: int = Field(20, ge=1, le=1000, description="How many themes, largest first")
    filters: Chosen = None


class TrendArguments(_Arguments):
    """Arguments of trend_over_time."""

    query: Match = None
    interval: Literal["day", "week", "month"] = Field("week", description="Width of an interval; weeks begin on Monday")
    time_zone: Zone = None
    filters: Chosen = None


class AccountArguments(_Arguments):
    """Arguments of get_account_context."""

    account_id: str = Field(min_length=1, description="The account")
    limit: int = Field(20, ge=1, le=1000, description="How many of its newest documents to show")


class AskArguments(_Arguments):
    """Arguments of ask."""

    question: str = Field(min_length=1, description="What to answer, in plain words")
    filters: Chosen = None
    time_zone: Zone = None


class MonitorsArguments(_Arguments):
    """Arguments of list_monitors."""

    limit: int = Field(50, ge=1, le=1000, description="How many monitors, newest first")


class DigestsArguments(_Arguments):
    """Arguments of get_digests."""

    digest_id: str | None = Field(None, min_length=1, description="Only this digest")
    monitor_id: str | None = Field(None, min_length=1, description="Only digests of this monitor")
    limit: int = Field(10, ge=1, le=100, description="How many digests, newest first")


class _Result(BaseModel):
    truncated: bool = Field(default=False, description="Whether items were left out because the result was too long")
    left_out: int = Field(default=0, description="How many items were left out")


class Degradation(BaseModel):
    """Something that was lost on the way."""

    part: str
    effect: str


class ToolHit(BaseModel):
    """One place in a ranking."""

    doc_id: str
    passage_id: str
    rank: int
    score: float
    lexical_score: float | None
    lexical_rank: int | None
    vector_score: float | None
    vector_rank: int | None
    fused_score: float
    snippet: str
    group_size: int
    group_doc_ids: list[str]
    title: str | None
    source: str
    theme_id: str | None
    account_id: str | None
    occurred_at: str


class SearchPayload(_Result):
    """Result of search_feedback."""

    query: str
    fusion: str
    scope: int = Field(description="Documents that passed the filters")
    hits: list[ToolHit]
    degraded: list[Degradation]


class ToolTheme(BaseModel):
    """One theme, with ids of the newest documents behind its count."""

    theme_id: str
    count: int
    doc_ids: list[str]
    share: float


class ThemePayload(_Result):
    """Result of aggregate_by_theme: exact counts over all matching documents."""

    query: str | None
    themes: list[ToolTheme]
    themes_total: int
    total: int
    scope: int
    without_theme: int
    engine_generation: int


class ToolPoint(BaseModel):
    """One interval, with ids of the newest documents behind its count."""

    key: str
    count: int
    doc_ids: list[str]


class TrendPayload(_Result):
    """Result of trend_over_time: exact counts, empty intervals included."""

    query: str | None
    interval: str
    time_zone: str
    points: list[ToolPoint]
    total: int
    scope: int
    engine_generation: int


class ToolCount(BaseModel):
    """A value, with ids of the newest documents that have it."""

    name: str
    count: int
    doc_ids: list[str]


class RatingCount(BaseModel):
    """Documents with one rating."""

    rating: float
    documents: int


class ToolRatings(BaseModel):
    """Ratings among the newest documents of an account."""

    rated: int
    looked_at: int
    mean: float | None
    counts: list[RatingCount]


class ToolSource(BaseModel):
    """Where a document came from."""

    kind: str
    name: str
    weight: float


class ToolDocument(BaseModel):
    """A document, with the beginning of its text."""

    doc_id: str
    version: int
    source: ToolSource
    snippet: str
    occurred_at: str
    title: str | None
    theme_id: str | None
    account_id: str | None
    rating: float | None
    language: str | None
    url: str | None
    attributes: dict[str, Any]


class AccountPayload(_Result):
    """Result of get_account_context."""

    account_id: str
    total: int
    first_seen: str
    last_seen: str
    themes: list[ToolCount]
    without_theme: int
    sources: list[ToolCount]
    ratings: ToolRatings
    documents: list[ToolDocument]
    engine_generation: int


class ToolCitation(BaseModel):
    """A span of one version of a document; offsets count Unicode code points."""

    doc_id: str
    version: int
    start: int
    end: int
    quote: str
    support: float


class ToolClaim(BaseModel):
    """One verified sentence."""

    text: str
    kind: str
    support: float
    citations: list[ToolCitation]
    counter_evidence: list[ToolCitation]
    document_count: int
    proof: dict[str, Any] | None


class ToolNearest(BaseModel):
    """A document that came close to a refused question."""

    doc_id: str
    score: float
    snippet: str


class ToolRefusal(BaseModel):
    """Why there is no answer."""

    reason: str
    message: str
    gate: str
    score: float | None
    threshold: float | None
    nearest: list[ToolNearest]
    hint: str


class ToolUnanswered(BaseModel):
    """A part of the question that was refused beside the answered ones."""

    question: str
    refusal: ToolRefusal


class ToolAnswer(BaseModel):
    """The answer, or the refusal in the same shape."""

    text: str
    refused: bool
    refusal_reason: str | None
    refusal: ToolRefusal | None
    confidence: float | None
    model: str | None
    cited_documents: list[str]
    claims: list[ToolClaim]
    unanswered: list[ToolUnanswered]


class ToolGrounding(BaseModel):
    """The verifier's report."""

    groundedness: float
    citation_precision: float
    coverage: float
    accepted: bool
    failure_reason: str | None


class AskPayload(_Result):
    """Result of ask: an answer in which every claim has citations, or a refusal with its reason."""

    run_id: str
    question: str
    answer: ToolAnswer
    grounding: ToolGrounding
    hits: list[ToolHit]
    degraded: list[Degradation]
    seconds: float


class ToolReceiver(BaseModel):
    """Who is told; the secret part of the address is left out."""

    receiver_id: str
    channel: str
    target: str


class ToolMonitor(BaseModel):
    """A saved question, where it stands, and the numbers of the newest window it looked at."""

    monitor_id: str
    name: str
    question: str
    match: str | None
    filters: dict[str, Any]
    condition: dict[str, Any]
    window_seconds: int
    cadence_seconds: int
    consecutive_breaches: int
    cooldown_seconds: int
    severity: str
    receivers: list[ToolReceiver]
    paused: bool
    version: int
    created_at: str
    state: str = Field(description="ok, pending, firing or resolved")
    since: str | None
    breaches: int
    last_window_end: str | None
    observed: float | None
    threshold: float | None
    unit: str | None
    baseline: float | None
    n: int | None
    denominator: int | None
    caveat: str | None
    problem: str | None = Field(description="Why nothing can be seen at present")
    problem_at: str | None
    digest_id: str | None = Field(description="Digest of the present or latest firing")


class MonitorsPayload(_Result):
    """Result of list_monitors."""

    monitors: list[ToolMonitor]
    unreadable: list[str] = Field(description="Ids of monitors that are damaged and cannot be read")


class ToolDigest(BaseModel):
    """What a monitor published: the numbers with the aggregations behind them, and verified claims with citations, or why there are none."""

    digest_id: str
    monitor_id: str
    monitor_name: str
    severity: str
    question: str
    version: int = Field(description="More than 1 when late documents changed it in place")
    window_start: str
    window_end: str
    fired_because: str
    breached: bool
    observed: float
    threshold: float
    unit: str
    baseline: float | None
    n: int
    denominator: int
    doc_ids: list[str]
    cursor: str | None
    proofs: list[dict[str, Any]]
    claims: list[ToolClaim]
    refusal: ToolRefusal | None
    degraded: list[Degradation]
    withdrawn_doc_ids: list[str]
    run_id: str | None
    first_seen: str
    last_seen: str
    created_at: str
    updated_at: str


class DigestsPayload(_Result):
    """Result of get_digests, newest first."""

    digests: list[ToolDigest]
