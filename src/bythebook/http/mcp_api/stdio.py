"""The protocol over standard input and output, for assistants that start the server themselves."""

import asyncio
from contextlib import suppress

from mcp.server.stdio import stdio_server

from bythebook.http.app import Service
from bythebook.http.mcp_api.server import make_server

_SETTLE_SECONDS = 1.5  # for the last questions to be recorded


async def serve_stdio(service: Service) -> None:
    """Serve until the client closes standard input; nothing else reaches standard output."""
    journal = service.answerer.journal
    recording = asyncio.create_task(journal.run())
    server = make_server(service.answerer, service.version)
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await journal.settle(_SETTLE_SECONDS)
        recording.cancel()
        with suppress(asyncio.CancelledError):
            await recording
        await service.close()
