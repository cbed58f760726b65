"""The tools, resources and prompts on the official SDK, which takes long to load: import this only to serve."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from bythebook.errors import ByTheBookError, InputError, UnknownBook, UnknownDocument
from bythebook.http.mcp_api import resources, texts
from bythebook.http.mcp_api.shapes import (
    AskArguments,
    AskResult,
    BookList,
    ListArguments,
    ReadArguments,
    SearchArguments,
    SearchResult,
    SectionText,
)
from bythebook.http.mcp_api.tools import BookTools, ToolCall, ToolReply
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import field_message, problem_of
from bythebook.operate.answerer import Answerer

_Context = ServerRequestContext[Any, Any]
_READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


@dataclass(frozen=True, slots=True)
class _ToolEntry:
    """A tool as it is listed and called."""

    title: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    run: Callable[[Any, ToolCall], Awaitable[ToolReply[Any]]]

    def describe(self, name: str) -> types.Tool:
        return types.Tool(
            name=name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema=self.result.model_json_schema(mode="serialization"),
            annotations=_READ_ONLY,
        )


def make_server(answerer: Answerer, version: str) -> Server[Any]:
    """Make the server of all books."""
    tools = BookTools(answerer)
    return Server(
        "bythebook",
        title="ByTheBook",
        version=version,
        instructions=texts.INSTRUCTIONS,
        **_tool_handlers(tools),
        **_resource_handlers(tools),
        **_prompt_handlers(),
    )


def _tool_handlers(tools: BookTools) -> dict[str, Any]:
    entries = {
        "ask_book": _ToolEntry("Ask a book", texts.ASK, AskArguments, AskResult, tools.ask),
        "search_book": _ToolEntry(
            "Search a book", texts.SEARCH, SearchArguments, SearchResult, tools.search
        ),
        "read_section": _ToolEntry(
            "Read a section", texts.READ, ReadArguments, SectionText, tools.read
        ),
        "list_books": _ToolEntry("List the books", texts.LIST, ListArguments, BookList, tools.list),
    }
    described = [entry.describe(name) for name, entry in entries.items()]

    async def list_tools(_context: _Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=described)

    async def call_tool(
        context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        entry = entries.get(params.name)
        if entry is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool: {', '.join(entries)}.")
        try:
            given = entry.arguments.model_validate(params.arguments or {})
            reply = await entry.run(given, _call_of(context))
        except ValidationError as error:
            return _make_failure(InputError(" ".join(map(_describe_error, error.errors()))))
        except ByTheBookError as error:
            return _make_failure(error)
        return types.CallToolResult(
            content=[types.TextContent(text=reply.text)],
            structured_content=reply.result.model_dump(mode="json"),
        )

    schemas = {tool.name: tool.input_schema for tool in described}
    return {
        "on_list_tools": list_tools,
        "on_call_tool": call_tool,
        "get_tool_input_schema": schemas.get,
    }


def _describe_error(error: Mapping[str, Any]) -> str:
    place = error["loc"] or ("arguments",)
    return field_message({**error, "loc": place})


def _make_failure(error: ByTheBookError) -> types.CallToolResult:
    """Tell the model what went wrong, in a result that it can read, and when to try again."""
    problem = problem_of(error)
    message, wait = problem.message, problem.retry_after
    again = f" Try again in {wait} seconds." if wait is not None else ""
    return types.CallToolResult(
        content=[types.TextContent(text=message + again)],
        structured_content={"error": problem.kind, "message": message, "retry_after": wait},
        is_error=True,
    )


def _call_of(context: _Context) -> ToolCall:
    """Return who calls: the request's caller, or this machine's user where there is no request."""
    if context.request is None:
        return ToolCall()
    known = context_of(context.request)
    return ToolCall(known.caller, known.request_id)


def _describe_resource(one: resources.BookResource) -> types.Resource:
    return types.Resource(
        uri=one.uri, name=one.name, description=one.description, mime_type=one.mime_type
    )


def _resource_handlers(tools: BookTools) -> dict[str, Any]:
    async def list_resources(
        context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params and params.cursor else "0"
        if not (cursor.isdecimal() and len(cursor) < 10):
            raise MCPError(types.INVALID_PARAMS, "cursor: not one that this server gave.")
        found, following = await resources.list_resources(tools, _call_of(context), int(cursor))
        return types.ListResourcesResult(
            resources=[_describe_resource(one) for one in found],
            next_cursor=None if following is None else str(following),
        )

    async def list_templates(_context: _Context, _params: Any) -> types.ListResourceTemplatesResult:
        book = types.ResourceTemplate(
            uri_template=resources.BOOK_TEMPLATE,
            name="book",
            description="The contents of a book.",
            mime_type=resources.MARKDOWN,
        )
        page = types.ResourceTemplate(
            uri_template=resources.PAGE_TEMPLATE,
            name="page",
            description="The exact text of a chapter's page.",
            mime_type=resources.PLAIN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[book, page])

    async def read(
        context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            text, kind = await asyncio.to_thread(
                resources.read_resource, tools, params.uri, _call_of(context)
            )
        except (UnknownBook, UnknownDocument) as error:
            raise MCPError(types.INVALID_PARAMS, error.what, {"uri": params.uri}) from None
        except ByTheBookError as error:
            raise MCPError(types.INTERNAL_ERROR, problem_of(error).message) from None
        contents = types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[contents])

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
    }


def _prompt_handlers() -> dict[str, Any]:
    prompts = {prompt.name: prompt for prompt in texts.PROMPTS}

    async def list_prompts(_context: _Context, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.description,
                    arguments=[
                        types.PromptArgument(
                            name=it.name, description=it.description, required=it.required
                        )
                        for it in one.arguments
                    ],
                )
                for one in prompts.values()
            ]
        )

    async def get_prompt(
        _context: _Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt, given = prompts.get(params.name), params.arguments or {}
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no such prompt: {', '.join(prompts)}.")
        missing = [one.name for one in prompt.arguments if one.required and not given.get(one.name)]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"{missing[0]}: must be given.")
        text = types.TextContent(text=prompt.write(given))
        message = types.PromptMessage(role="user", content=text)
        return types.GetPromptResult(description=prompt.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}
