"""Every setting, read once from ``WA_*`` variables into a frozen, bounded object. Units are in the names."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import available_timezones

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from runtime.errors import InvalidRequest, Misconfigured
from runtime.tenancy import tenant_named

PREFIX = "WA_"
FROM_FILE = "_FILE"
"""After the name of a setting: the file that holds its value, as containers are given their secrets."""


def _time_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("is not a time zone name such as Europe/Paris")
    return name


def _default_engine_url() -> str:
    return f"sqlite:///{Path(platformdirs.user_data_dir('wisdomagent')) / 'wisdom.db'}"


Ratio = Annotated[float, Field(ge=0.0, le=1.0)]


class Settings(BaseSettings):
    """All settings with their bounds and defaults; see ``docs/settings.md``, which a test keeps equal to this class."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    engine_url: str = Field(
        default_factory=_default_engine_url,
        description="sqlite:///FILE, or http(s)://user@host:9200 of an OpenSearch cluster; further hosts of it after commas: https://user@a:9200,b:9200",
    )
    engine_password_file: Path | None = Field(None, description="file with the password of the OpenSearch user; read again when it changes")
    engine_token_file: Path | None = Field(
        None,
        description="in place of a user: file with a bearer token for OpenSearch, or with a scheme and a token as in ApiKey abc; "
        "read again when it changes",
    )
    engine_ca_file: Path | None = Field(
        None,
        description="file with the certificates (PEM) of the authorities that may vouch for OpenSearch; blank = the system's. "
        "Certificate and host name are always checked",
    )
    engine_client_cert_file: Path | None = Field(None, description="file with our certificate (PEM), for clusters that ask for one")
    engine_client_key_file: Path | None = Field(
        None, description="file with its key (PEM, not encrypted); blank = in the certificate's file"
    )
    index_prefix: str = Field("wa", pattern=r"^[a-z][a-z0-9]{0,15}$", description="first part of every index name in OpenSearch")
    placement: Literal["own", "pool"] = Field(
        "own", description="where new tenants go in OpenSearch: month indices of their own, or those of the pool"
    )
    engine_timeout_s: float = Field(10.0, gt=0, le=300, description="longest wait for one call to the engine")
    embedder: str = Field(
        "minilm",
        pattern=r"^(minilm|sentence-transformers:.+|openai:.+)$",
        description="minilm, sentence-transformers:NAME or openai:NAME",
    )
    embedder_url: str = Field("", description="base URL of an OpenAI-compatible server, for openai:NAME")
    embedder_key: SecretStr = Field(SecretStr(""), description="API key for that server")
    embedder_dimension: int = Field(0, ge=0, le=4096, description="length of its vectors; 0 asks the server once")
    embedder_threads: int = Field(0, ge=0, le=64, description="threads of the built-in embedder; 0 = one per core")

    mask: str = Field(
        "",
        pattern=r"^(?:(?:email|phone|card|iban)(?:,(?:email|phone|card|iban))*)?$",
        description="what is masked in everything that is ingested and asked: any of email, phone, card, iban, comma separated; blank = nothing",
    )
    mask_region: str = Field(
        "",
        pattern=r"^(?:[A-Z]{2})?$",
        description="country, such as DE, whose phone numbers are also masked without their country code; blank = numbers with + alone",
    )

    default_tenant: str = Field(
        "default", description="tenant of the command line, and of requests without x-tenant-id in development mode"
    )
    auth: Literal["none", "keys", "oidc"] = Field(
        "none",
        description="who may call: keys = API keys, oidc = tokens of an identity provider (and keys, where a pepper is set), "
        "none = development mode: the tenant is taken from x-tenant-id; binds to loopback only",
    )
    key_pepper: SecretStr = Field(SecretStr(""), description="secret that API keys are hashed with, 32 characters or more; needed for keys")
    oidc_issuer: str = Field("", description="issuer of the tokens, exactly as in their iss; needed for oidc")
    oidc_audience: str = Field("", description="audience that tokens for GraphQL and REST must have; needed for oidc")
    oidc_mcp_audience: str = Field("", description="audience that tokens for /mcp must have; blank = WA_PUBLIC_URL/mcp")
    oidc_jwks_url: str = Field("", description="address of the issuer's keys; blank = as its discovery document says")
    oidc_algorithms: str = Field(
        "RS256,ES256",
        pattern=r"^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA)(?:,(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA))*$",
        description="signature algorithms that are accepted; asymmetric ones only",
    )
    oidc_leeway_s: float = Field(10.0, ge=0, le=30, description="how far the issuer's clock may be off")
    oidc_tenant_claim: str = Field("tenant", min_length=1, description="claim with the tenant, or the list of tenants, of a token")
    oidc_scope_claim: str = Field("scope", min_length=1, description="claim with the scopes, as a list or separated by blanks")
    oidc_scope_prefix: str = Field("wa:", description="what our scopes begin with in tokens, as in wa:read")
    rate_capacity: int = Field(60, ge=1, le=1_000_000, description="calls of one operation that a credential may make at once")
    rate_refill_per_s: float = Field(
        10.0, gt=0, le=100_000, description="calls of one operation that a credential may go on making a second"
    )
    host: str = Field("127.0.0.1", description="address the server binds to")
    port: int = Field(8000, ge=0, le=65535, description="port the server binds to; 0 = any free one")
    time_zone: Annotated[str, AfterValidator(_time_zone)] = Field("UTC", description="zone of local days where a request names none")
    allowed_hosts: str = Field(
        "127.0.0.1:*,localhost:*,[::1]:*,localhost,127.0.0.1,testserver",
        description="Host headers the web doors accept, comma separated; :* is any port",
    )
    allowed_origins: str = Field(
        "http://127.0.0.1:*,http://localhost:*", description="Origin headers the web doors accept, comma separated; :* is any port"
    )

    fusion: Literal["rrf", "weighted"] = Field("rrf", description="how the two legs are merged unless a request says otherwise")
    rrf_k: int = Field(60, ge=1, le=1000, description="constant of reciprocal rank fusion")
    default_top_k: int = Field(10, ge=1, le=100, description="hits per search")
    max_top_k: int = Field(100, ge=1, le=1000, description="more is clamped to this")
    candidate_multiplier: int = Field(4, ge=1, le=20, description="each leg is asked for this many times the hits wanted, and at least 100")

    min_support: Ratio = Field(0.6, description="support below which a claim is pruned")
    min_groundedness: Ratio = Field(
        0.7, description="share of claims that must be supported when no repair is left; below it the draft is refused"
    )
    min_evidence_relevance: Ratio = Field(0.3, description="relevance below which the evidence is not about the question")
    max_claims: int = Field(12, ge=1, le=50, description="claims in one answer")
    evidence_limit: int = Field(40, ge=1, le=200, description="passages the verifier may look at")
    min_share_documents: int = Field(5, ge=1, le=1000, description="a share or trend over fewer documents is refused as TOO_FEW")

    ask_max_steps: int = Field(32, ge=1, le=100, description="steps of one run")
    ask_max_calls_per_tool: int = Field(6, ge=1, le=100, description="calls of one tool in one run")
    ask_max_tokens: int = Field(
        8000, ge=1, le=1_000_000, description="tokens of evidence one run may read; language models may use as many again"
    )
    ask_timeout_s: float = Field(30.0, gt=0, le=600, description="wall clock of one run, and of what else a request reads")
    ask_max_repairs: int = Field(1, ge=0, le=5, description="times a draft is pruned and verified again")

    max_text_chars: int = Field(200_000, ge=100, le=5_000_000, description="longest text of one document; longer is rejected")
    max_question_chars: int = Field(20_000, ge=100, le=1_000_000, description="longest question; longer is an error")
    max_batch_documents: int = Field(1000, ge=1, le=100_000, description="documents in one indexDocuments call")
    max_body_bytes: int = Field(8_388_608, ge=1024, le=1_073_741_824, description="largest request body")
    body_timeout_s: float = Field(
        30.0, gt=0, le=600, description="longest wait for the whole body of a request; a slower one is answered with 408"
    )
    mcp_max_output_chars: int = Field(20_000, ge=500, le=10_000_000, description="longest tool result; whole items are left out beyond it")
    mcp_call_timeout_s: float = Field(10.0, gt=0, le=300, description="time limit of one tool call")

    retry_attempts: int = Field(3, ge=1, le=10, description="attempts of one outgoing call that may be repeated")
    breaker_failures: int = Field(5, ge=1, le=100, description="failures in a row that open a circuit")
    breaker_open_s: float = Field(10.0, gt=0, le=600, description="how long an open circuit stays open before one probe")
    bulkhead_calls: int = Field(32, ge=1, le=1000, description="outgoing calls to one dependency at once")

    redis_url: str = Field(
        "", description="redis://host:6379/0 of a Redis or Valkey: broker of the workers and event streams; blank = none"
    )
    redis_timeout_s: float = Field(
        2.0, gt=0, le=60, description="longest wait for one call to that server, and for one answer of the broker to a worker"
    )
    cache: Literal["auto", "memory", "off"] = Field(
        "auto",
        description="where answers and counts are kept for a while: auto = in Redis where WA_REDIS_URL names one, else in memory; memory; off",
    )
    cache_entries: int = Field(512, ge=1, le=1_000_000, description="answers and counts kept in memory; 64 MiB of them at most")
    cache_timeout_s: float = Field(
        0.25, gt=0, le=60, description="longest wait for the cache in Redis, and for the shared buckets of rate limits; neither is needed"
    )
    cache_ttl_s: float = Field(
        300.0, ge=1, le=86_400, description="how long one is kept; a change of the tenant's documents ends it at once"
    )
    monitor_interval_s: float = Field(60.0, ge=1, le=86_400, description="how often due monitors, jobs and deliveries are looked for")
    monitor_timeout_s: float = Field(30.0, gt=0, le=600, description="wall clock of one evaluation of a monitor")
    worker_concurrency: int = Field(2, ge=1, le=256, description="pieces of work one worker process does at once")
    worker_tenant_pieces: int = Field(
        0, ge=0, le=256, description="pieces of one tenant that a worker behind a broker does at once; 0 = all of its processes but one"
    )
    worker_time_limit_s: float = Field(
        300.0, ge=1, le=3600, description="hard time limit of one piece of work; the soft one is a tenth earlier"
    )
    worker_visibility_timeout_s: float = Field(
        900.0, ge=2, le=86_400, description="after which unacknowledged work is handed to another worker; longer than the hard time limit"
    )
    worker_max_deliveries: int = Field(3, ge=1, le=100, description="times one piece of work is tried before it becomes a dead letter")
    worker_metrics_port: int = Field(8001, ge=0, le=65535, description="port of the worker's /metrics; 0 = none")
    worker_metrics_host: str = Field(
        "127.0.0.1", pattern=r"^[A-Za-z0-9.:-]+$", description="address the worker's /metrics binds to; 0.0.0.0 in a container"
    )
    webhook_secret: SecretStr = Field(SecretStr(""), description="key that webhook deliveries are signed with; needed for webhooks")
    delivery_timeout_s: float = Field(10.0, gt=0, le=120, description="longest wait for one attempt to deliver a digest")
    delivery_attempts: int = Field(6, ge=1, le=100, description="attempts to deliver a digest to one receiver before it stays undelivered")
    delivery_private_networks: bool = Field(
        default=False,
        description="allow deliveries to loopback and private addresses, which a tenant could otherwise use to reach inner servers",
    )
    smtp_url: str = Field("", description="smtp://user:password@host:25 or smtps://…, for deliveries by e-mail; blank = none")
    smtp_from: str = Field("wisdomagent@localhost", description="sender of e-mail deliveries")
    public_url: str = Field("", description="base URL at which people reach this service, for links in deliveries; blank = no links")
    event_stream_length: int = Field(1_000_000, ge=1000, le=1_000_000_000, description="entries kept in the Redis event stream, about")
    job_chunk_rows: int = Field(500, ge=1, le=1000, description="rows of an ingest job that are worked on and acknowledged together")

    llm_base_url: str = Field("", description="base URL of an OpenAI-compatible server; blank = no language model")
    llm_api_key: SecretStr = Field(SecretStr(""), description="API key for that server")
    llm_model: str = Field("", description="model that server is asked for")
    llm_fallback_base_url: str = Field("", description="a second, independent server that is asked when the first fails; blank = none")
    llm_fallback_api_key: SecretStr = Field(SecretStr(""), description="API key for the second server")
    llm_fallback_model: str = Field("", description="model the second server is asked for; blank = the same name")
    llm_roles: str = Field(
        "plan,draft,judge",
        pattern=r"^(plan|draft|judge)(,(plan|draft|judge))*$",
        description="what a language model may do: any of plan, draft, judge, comma separated",
    )
    llm_timeout_s: float = Field(15.0, gt=0, le=300, description="longest wait for one answer of a language model")
    llm_max_output_tokens: int = Field(1000, ge=16, le=32_000, description="tokens one answer of a language model may have")
    llm_input_price: float = Field(0.0, ge=0, description="price of a million input tokens, for the cost in traces")
    llm_output_price: float = Field(0.0, ge=0, description="price of a million output tokens, for the cost in traces")

    environment: str = Field("local", pattern=r"^[A-Za-z0-9_-]{1,32}$", description="label on every log line and span")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="least severe line that is written")
    log_format: Literal["auto", "json", "pretty"] = Field("auto", description="auto = pretty on a terminal, JSON otherwise")
    log_sample: int = Field(
        1000, ge=0, le=1_000_000, description="lines of one kind written a minute, errors and audit apart; the rest are counted; 0 = all"
    )
    otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="URL of an OpenTelemetry collector that takes OTLP over HTTP (port 4318); blank = no spans",
    )
    otlp_tenant: Literal["none", "hash"] = Field("none", description="whether spans tell a keyed hash of the tenant")

    dashboards_url: str = Field(
        "", description="http(s)://user@host:5601 of OpenSearch Dashboards, with its base path; where make dashboards imports the board"
    )
    dashboards_password: SecretStr = Field(SecretStr(""), description="password of that user")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (signature of the library)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what :func:`read_settings` passes; no files, so that what ``env`` prints is what runs."""
        return (init_settings,)

    def describe(self) -> dict[str, str]:
        """Every setting as text, safe to log: secrets and passwords inside URLs are masked."""
        return {name: _safe(getattr(self, name)) for name in type(self).model_fields}


def read_settings(environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """The settings of this process; ``overrides`` (as from command-line options) win over the environment. Where the environment has ``WA_X_FILE``
    in place of ``WA_X``, the value is what that file holds.

    Raises:
        Misconfigured: lists every unknown ``WA_`` name and every bad value at once.
    """
    environ = os.environ if environ is None else environ
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    unknown = sorted(
        name for name in environ if name.startswith(PREFIX) and name not in known and name.removesuffix(FROM_FILE) not in known
    )
    problems = [f"{name} is not a setting{_did_you_mean(name, known)}" for name in unknown]
    given = _from(environ, problems)
    try:
        settings = Settings(**{**given, **overrides})  # type: ignore[arg-type]
    except ValidationError as error:
        problems += [_problem(detail) for detail in error.errors()]
        settings = None
    if settings is not None:
        problems += _cross_checks(settings)
    if settings is None or problems:
        raise Misconfigured("settings: " + "; ".join(problems))
    return settings


def _from(environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    given = {}
    for name in Settings.model_fields:
        variable = PREFIX + name.upper()
        direct, file = environ.get(variable, ""), environ.get(variable + FROM_FILE, "")
        if direct and file:
            problems.append(f"{variable} and {variable}{FROM_FILE} are both set; unset one")
        value = direct or (_held(variable + FROM_FILE, file, problems) if file else "")
        if value:
            given[name] = value
    return given


def _held(variable: str, file: str, problems: list[str]) -> str:
    """What a file holds, without the line break that editors leave at its end."""
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problems.append(f"{variable}={file} cannot be read: {reason}")
        return ""


def _problem(detail: object) -> str:
    assert isinstance(detail, dict)
    name = PREFIX + str(detail["loc"][0]).upper()
    if detail["type"] == "string_pattern_mismatch":
        return f"{name} does not have the form of its setting: {Settings.model_fields[str(detail['loc'][0])].description}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{name} {message[:1].lower()}{message[1:]}"


def _cross_checks(settings: Settings) -> list[str]:
    problems = []
    try:
        tenant_named(settings.default_tenant)
    except InvalidRequest as error:
        problems.append(f"WA_DEFAULT_TENANT {error.reason}")
    return problems


def _did_you_mean(name: str, known: set[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f" (did you mean {near[0]}?)" if near else ""


def _safe(value: object) -> str:
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    text = str(value)
    if "://" in text and "@" in text:
        scheme, rest = text.split("://", 1)
        userinfo, host = rest.rsplit("@", 1)
        return f"{scheme}://{userinfo.split(':')[0]}{':********' if ':' in userinfo else ''}@{host}"
    return text
