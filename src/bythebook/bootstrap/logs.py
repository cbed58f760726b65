"""Settings -> where log lines go, without the secrets among the settings."""

from bythebook.settings import Settings


def start_logs(settings: Settings, model_key: str) -> None:
    """Write all that this process logs to stderr, as configured and without secrets."""
    from bythebook.adapters.operations.json_logs import set_up_logs
    from bythebook.adapters.operations.log_secrets import secrets_in

    secret = (
        settings.database_url,
        settings.redis_url,
        settings.alert_webhook,
        settings.embedder_api_key,
        settings.qdrant_api_key,
    )
    secrets = secrets_in([model_key, *(one.get_secret_value() for one in secret)])
    set_up_logs(settings.log_level, settings.log_format, secrets)
