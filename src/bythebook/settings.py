"""Everything an operator can set, each as a BYTHEBOOK_* variable or a line of .env."""

import ipaddress
import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bythebook.errors import InputError

PREFIX = "BYTHEBOOK_"


class Settings(BaseSettings):
    """The settings, frozen once read."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    data_dir: Path = Field(
        Path(".bythebook"), description="Folder that holds all that the embedded defaults write."
    )
    host: str = Field("127.0.0.1", description="Address that `serve` listens on.")
    port: int = Field(8000, ge=1, le=65535, description="Port that `serve` listens on.")
    public_url: str = Field(
        "",
        pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="Address of this service as readers reach it, for links to its reader pages; "
        "empty: http://host:port.",
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
        description="Hosts on private or loopback addresses that `ingest` may read a web site from, "
        "as host or host:port, parted by commas.",
    )

    allowed_models: str = Field(
        "gpt-3.5-turbo,gpt-4,gpt-4-turbo-preview",
        pattern=r"^[\w.:/@-]+(\s*,\s*[\w.:/@-]+)*$",
        description="Names of language models that a reader may ask for, parted by commas.",
    )

    database_url: SecretStr = Field(
        SecretStr(""),
        description="Database of questions, conversations and keys, as postgresql://user:password@host/name; "
        "empty: a SQLite file in the data folder.",
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
    redis_url: SecretStr = Field(
        SecretStr(""),
        description="Redis that processes share their counts of requests in, as redis://host:6379/0; "
        "empty: each process counts for itself.",
    )
    trusted_proxies: str = Field(
        "",
        pattern=r"^[0-9a-fA-F.:/, ]*$",
        description="Addresses or networks of proxies whose X-Forwarded-For is believed, parted by commas.",
    )
    alert_webhook: SecretStr = Field(
        SecretStr(""),
        description="Address that is told, by a JSON POST, when a part fails and when it works again.",
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
        return tuple(dict.fromkeys(name.strip() for name in self.allowed_models.split(",")))

    @property
    def site_hosts(self) -> frozenset[str]:
        """The hosts that a web site may be read from wherever they are."""
        names = (name.strip().lower() for name in self.allowed_hosts.split(","))
        return frozenset(name for name in names if name)

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service, which may then be open."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def reader_url(self) -> str:
        """The address that links to reader pages begin with."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - compared, not bound
        host = f"[{host}]" if ":" in host else host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")


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


def unknown_variables() -> list[str]:
    """Name BYTHEBOOK_* variables that mean nothing, as a misspelt one does."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
