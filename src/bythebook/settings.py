"""Everything an operator can set, each as a BYTHEBOOK_* variable or a line of .env."""

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bythebook.errors import InputError

PREFIX = "BYTHEBOOK_"
_MODEL_NAME = r"[\w.:/@-]+(=[\w.:/@-]+)?"


def without_brackets(host: str) -> str:
    """Take the brackets off an IPv6 address, as it is copied out of a link."""
    inner = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    return inner if ":" in inner else host


class Settings(BaseSettings):
    """The settings, frozen once read."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    data_dir: Path = Field(
        Path(".bythebook"), description="Folder for everything that the embedded defaults write."
    )
    host: Annotated[str, AfterValidator(without_brackets)] = Field(
        "127.0.0.1",
        description="Address that `serve` listens on; any but this machine's own needs a key first.",
    )
    port: int = Field(8000, ge=1, le=65535, description="Port that `serve` listens on.")
    public_url: str = Field(
        "",
        pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="Address of this service as readers reach it, for links to its reader pages; "
        "empty: http://host:port.",
    )
    public_books: str = Field(
        "",
        pattern=r"^[a-z0-9_,* -]*$",
        description="Comma-separated ids of books that search engines and other machines may find although the "
        "service has keys (llms.txt, sitemaps, Markdown, structured data); *: all. Without keys all may be found.",
    )
    threads: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 8),
        ge=1,
        le=64,
        description="Cores that the bundled models may use.",
    )

    allowed_hosts: str = Field(
        "",
        pattern=r"^[\w.:,\[\] -]*$",
        description="Hosts on private or loopback addresses from which `ingest` may read a web site, "
        "as comma-separated host or host:port.",
    )

    pdf_memory_mb: int = Field(
        768,
        ge=64,
        le=65536,
        description="Megabytes of memory that the process which reads a PDF may use.",
    )

    older_text_mb: int = Field(
        20,
        ge=0,
        le=10_000,
        description="Megabytes, compressed, of text that newer ingests changed or removed, kept for each book so "
        "that its citations can be followed; 0: none. `bythebook books purge` removes it.",
    )

    llm_base_url: str = Field(
        "",
        pattern=r"^(https?://[^\s/@?#]+(/[^\s?#]*)?)?$",
        description="Address of a language model, as http://127.0.0.1:11434/v1; empty: no model, or, "
        "with another of these set, https://openrouter.ai/api/v1.",
    )
    llm_api_key: SecretStr = Field(
        SecretStr(""),
        description="Key to the language model; empty: OPENROUTER_API_KEY or OPENAI_API_KEY, "
        "which alone set nothing.",
    )
    llm_model: str = Field(
        "",
        pattern=r"^\S*$",
        description="Language model that answers; empty: openai/gpt-3.5-turbo, if another of these is set.",
    )
    llm_validator: bool = Field(
        default=False,
        description="Whether the language model must agree with the judge that passages answer.",
    )
    llm_multi_hop: bool = Field(
        default=False,
        description="Whether the language model may search the book up to three times.",
    )
    llm_own_words: bool = Field(
        default=False,
        description="Whether the language model's own wording is shown where it passes verification, rather than "
        "the book's sentences that it rests on.",
    )
    llm_fallback: bool = Field(
        default=False,
        description="Whether the book's own excerpt answers where the language model fails, marked by `fallback`, "
        "rather than an error.",
    )
    allowed_models: str = Field(
        "gpt-3.5-turbo,gpt-4,gpt-4-turbo-preview",
        pattern=rf"^{_MODEL_NAME}(\s*,\s*{_MODEL_NAME})*$",
        description="Comma-separated names of language models that a reader may ask for, better ones "
        "later; name=id where the provider uses another name.",
    )

    embedder: Literal["bundled", "cohere", "openai"] = Field(
        "bundled",
        description="What embeds books and questions; openai: any server with the same interface.",
    )
    embedder_model: str = Field(
        "",
        pattern=r"^[\w.:/@-]*$",
        description="Model of the embedder; empty: embed-multilingual-v3.0 or text-embedding-3-small.",
    )
    embedder_api_key: SecretStr = Field(SecretStr(""), description="Key to the embedder.")
    embedder_base_url: str = Field(
        "",
        pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="Address of the embedder, as http://127.0.0.1:11434/v1; empty: the provider's own.",
    )
    embedder_dimension: int | None = Field(
        None,
        ge=1,
        le=16384,
        description="Length of the embedder's vectors, where it can give shorter ones; unset: its own.",
    )

    qdrant_url: str = Field(
        "",
        pattern=r"^(https?://[^\s/@]+(/\S*)?)?$",
        description="Qdrant server that holds the vectors, as https://host:6333; "
        "empty: an embedded index in the data folder.",
    )
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="Key to the Qdrant server.")
    qdrant_shards: int | None = Field(
        None, ge=1, description="Shards of each book's collection; unset: as the server decides."
    )
    qdrant_replicas: int = Field(1, ge=1, description="Copies that the server keeps of each shard.")
    qdrant_quantisation: Literal["none", "scalar", "binary"] = Field(
        "none",
        description="Small copies of vectors that preselect; binary only for 1,024 numbers or more.",
    )
    qdrant_on_disk: bool = Field(
        default=False,
        description="Whether the server keeps vectors, payloads and indexes on disk, not in memory.",
    )

    database_url: SecretStr = Field(
        SecretStr(""),
        description="Database of questions, conversations and keys, as postgresql://user:password@host/name; "
        "empty: a SQLite file in the data folder.",
    )
    first_key: SecretStr = Field(
        SecretStr(""),
        description="Key of scope admin that `serve` makes when it starts, unless it was made before; only its hash "
        "is kept. For containers; at least 32 random characters.",
    )
    first_key_file: Path | None = Field(
        None, description="File with that key, such as a container's secret."
    )
    limit_key: int = Field(
        100,
        ge=0,
        description="Requests per minute of one key that sets no limit of its own; 0: no limit.",
    )
    limit_session: int = Field(
        20, ge=0, description="Requests per minute of one session; 0: no limit."
    )
    limit_ip: int = Field(
        60, ge=0, description="Requests per minute of one address that gives no key; 0: no limit."
    )
    max_wait_seconds: float = Field(
        5.0,
        ge=0.1,
        le=60,
        description="Longest wait of a question for its turn; beyond it the answer is 503.",
    )
    grace_seconds: int = Field(
        10,
        ge=1,
        le=3600,
        description="Time that open answers get to end when the service stops.",
    )
    answers_at_once: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Questions answered at the same time; unset: as many as BYTHEBOOK_THREADS, or 32 "
        "with a language model.",
    )
    redis_url: SecretStr = Field(
        SecretStr(""),
        description="Redis in which processes share their request counts, as redis://host:6379/0; "
        "empty: each process counts for itself.",
    )
    trusted_proxies: str = Field(
        "",
        pattern=r"^[0-9a-fA-F.:/, ]*$",
        description="Comma-separated addresses or networks of proxies whose X-Forwarded-For is trusted.",
    )
    alert_webhook: SecretStr = Field(
        SecretStr(""),
        description="Address that gets a JSON POST when a part fails and when it works again.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severity of what `serve` logs."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="How `serve` logs; auto: text to a terminal, else JSON, a line each."
    )

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names of models that a reader may ask for."""
        named = (name.partition("=")[0].strip() for name in self.allowed_models.split(","))
        return tuple(dict.fromkeys(named))

    @property
    def model_ids(self) -> dict[str, str]:
        """The provider's ids of those that it calls by another name."""
        pairs = (named.partition("=") for named in self.allowed_models.split(","))
        return {name.strip(): model.strip() for name, equals, model in pairs if equals}

    @property
    def listed_books(self) -> frozenset[str]:
        """The books that machines may find although there are keys."""
        return frozenset(filter(None, (name.strip() for name in self.public_books.split(","))))

    @property
    def site_hosts(self) -> frozenset[str]:
        """The hosts from which a web site may be read wherever they are."""
        names = (name.strip().lower() for name in self.allowed_hosts.split(","))
        return frozenset(name for name in names if name)

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service, which may then be open."""
        return is_this_machine(self.host)

    @property
    def reader_url(self) -> str:
        """The address that links to reader pages begin with."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - compared, not bound
        host = f"[{host}]" if ":" in host else host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")


def is_this_machine(host: str) -> bool:
    """Return True if a host is a loopback address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load_settings() -> Settings:
    """Read the environment; a wrong value names its variable and what is wrong with it."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + str(first["loc"][0]).upper()
        raise InputError(
            f"{name} has a wrong value: {first['msg']}.", f"Put {name} right, or unset it."
        ) from error


def find_unknown_variables() -> list[str]:
    """Name BYTHEBOOK_* variables that are no settings, such as misspelt ones."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
