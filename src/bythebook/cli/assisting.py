"""`mcp`: the books for an assistant on this machine."""

import asyncio

from bythebook.bootstrap import Core
from bythebook.errors import InputError
from bythebook.http.mcp_api.endpoint import is_installed
from bythebook.settings import load_settings


def mcp() -> None:
    """Serve the books to an assistant over standard input and output (Model Context Protocol)."""
    if not is_installed():
        raise InputError(
            "The Model Context Protocol needs an extra that is not installed.",
            "Install it: pip install 'bythebook[mcp]'.",
        )
    settings = load_settings()
    running = Core(settings).running_url()
    core = Core(settings.model_copy(update={"public_url": running or settings.public_url}))
    core.log()  # to standard error
    from bythebook.http.mcp_api.stdio import serve_stdio

    asyncio.run(serve_stdio(core.service()))
