"""The tools, prompts and resources that the public MCP conformance suite calls by fixed names, behind the same transport as our own tools.

They exist so that the suite can exercise our mount: framing, headers, streams, both protocol eras. None of them is part of the product.
"""

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import Field
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from api.doors import Identify
from api.edge import Edge
from api.identity.gate import Gate
from api.mcp_http import McpEndpoint
from api.tenancy import authenticator
from runtime.clock import SystemClock
from runtime.settings import Settings
from runtime.telemetry import Metrics

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff89993d1d0000000049454e44ae426082"
    )
).decode()
SILENCE = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"
).decode()
NAME_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PAUSE_S = 0.05

Asked = types.CallToolResult | types.InputRequiredResult


def fixture_app(settings: Settings) -> Starlette:
    """Our edge and our MCP endpoint, with the suite's tools instead of ours."""
    identify, gate = Identify(authenticator(settings), waits=False), Gate(settings, SystemClock(), Metrics())
    endpoint = McpEndpoint(_server(), settings, identify, gate)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with endpoint.run():
            yield

    edge = Middleware(Edge, settings=settings, metrics=Metrics())
    return Starlette(routes=[Route("/mcp", endpoint, methods=None)], middleware=[edge], lifespan=lifespan)


def _server() -> Server[Any]:
    server = MCPServer("fixtures", version="1", subscriptions=False, log_level="WARNING")
    for register in (_content, _progress, _rounds, _resources, _prompts, _capabilities):
        register(server)
    _legacy_methods(server)
    return server._lowlevel_server


def _content(server: MCPServer) -> None:
    image = types.ImageContent(data=PIXEL, mime_type="image/png")

    def resource(uri: str, kind: str, text: str) -> types.EmbeddedResource:
        return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=text))

    answers: dict[str, list[Any]] = {
        "test_simple_text": [_text("This is a simple text response for testing.")],
        "test_image_content": [image],
        "test_audio_content": [types.AudioContent(data=SILENCE, mime_type="audio/wav")],
        "test_embedded_resource": [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
        "test_multiple_content_types": [
            _text("Multiple content types test:"),
            image,
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ],
    }
    for name, content in answers.items():
        server.add_tool(_returns(content), name=name, description="Returns fixed content", structured_output=False)

    @server.tool(description="Fails", structured_output=False)
    def test_error_handling() -> types.CallToolResult:
        return types.CallToolResult(content=[_text("This tool intentionally returns an error for testing")], is_error=True)


def _returns(content: list[Any]) -> Callable[[], list[Any]]:
    def fixed() -> list[Any]:
        return content

    return fixed


def _progress(server: MCPServer) -> None:
    @server.tool(description="Reports progress", structured_output=False)
    async def test_tool_with_progress(context: Context) -> str:
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await anyio.sleep(PAUSE_S)
        return "done"

    async def quiet() -> str:
        return "done"

    for name in ("test_logging_tool", "test_streaming_elicitation"):
        server.add_tool(quiet, name=name, description="Sends nothing on the way", structured_output=False)


def _rounds(server: MCPServer) -> None:
    """Tools that need input from the client before they answer."""
    needs: dict[str, tuple[dict[str, Any], str | None]] = {
        "test_input_required_result_elicitation": ({"user_name": _elicit("What is your name?", NAME_SCHEMA)}, None),
        "test_input_required_result_sampling": ({"capital_question": _sample("What is the capital of France?")}, None),
        "test_input_required_result_list_roots": ({"client_roots": types.ListRootsRequest()}, None),
        "test_input_required_result_request_state": ({"confirm": _elicit("Please confirm", NAME_SCHEMA)}, "first"),
        "test_input_required_result_tampered_state": ({"confirm": _elicit("Please confirm", NAME_SCHEMA)}, "first"),
        "test_input_required_result_multiple_inputs": (
            {
                "user_name": _elicit("What is your name?", NAME_SCHEMA),
                "greeting": _sample("Generate a greeting"),
                "client_roots": types.ListRootsRequest(),
            },
            "first",
        ),
    }
    for name, (requests, state) in needs.items():
        server.add_tool(_asks(requests, state), name=name, description="Needs input", structured_output=False)

    @server.tool(description="Needs input twice", structured_output=False)
    def test_input_required_result_multi_round(context: Context) -> Asked:
        answers = context.input_responses or {}
        if "step2" in answers:
            return _done("state-ok")
        if "step1" in answers:
            return types.InputRequiredResult(
                input_requests={"step2": _elicit("Step 2: What is your favorite color?", NAME_SCHEMA)}, request_state="second"
            )
        return types.InputRequiredResult(
            input_requests={"step1": _elicit("Step 1: What is your name?", NAME_SCHEMA)}, request_state="first"
        )

    @server.tool(description="Needs what the client can do", structured_output=False)
    def test_input_required_result_capabilities(context: Context) -> Asked:
        declared = context.client_capabilities
        requests: dict[str, Any] = {}
        if declared and declared.sampling is not None:
            requests["capital_question"] = _sample("What is the capital of France?")
        if declared and declared.elicitation is not None:
            requests["user_name"] = _elicit("What is your name?", NAME_SCHEMA)
        return types.InputRequiredResult(input_requests=requests)


def _asks(requests: dict[str, Any], state: str | None) -> Callable[..., Asked]:
    def tool(context: Context) -> Asked:
        answers = context.input_responses or {}
        if requests.keys() <= answers.keys() and context.request_state == state:
            return _done("state-ok")
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    return tool


def _capabilities(server: MCPServer) -> None:
    @server.tool(description="Needs sampling", structured_output=False)
    def test_missing_capability(context: Context) -> str:
        declared = context.client_capabilities
        if declared is None or declared.sampling is None:
            needed = types.MissingRequiredClientCapabilityErrorData(
                required_capabilities=types.ClientCapabilities(sampling=types.SamplingCapability())
            )
            data = needed.model_dump(by_alias=True, mode="json", exclude_none=True)
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)
        return "done"


def _resources(server: MCPServer) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 (the name is the suite's)
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server: MCPServer) -> None:
    @server.prompt(description="Simple")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="With arguments")
    def test_prompt_with_arguments(
        arg1: Annotated[str, Field(description="First")], arg2: Annotated[str, Field(description="Second")]
    ) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="With a resource")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 (the name is the suite's)
        embedded = types.TextResourceContents(uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing.")
        return [UserMessage(types.EmbeddedResource(resource=embedded)), UserMessage("Please process the embedded resource above.")]

    @server.prompt(description="With an image")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(types.ImageContent(data=PIXEL, mime_type="image/png")), UserMessage("Please analyze the image above.")]

    @server.prompt(description="Needs input")
    def test_input_required_result_prompt(context: Context) -> Any:
        if "user_context" in (context.input_responses or {}):
            return "done"
        return types.InputRequiredResult(input_requests={"user_context": _elicit("What context should the prompt use?", NAME_SCHEMA)})


def _legacy_methods(server: MCPServer) -> None:
    @server.completion()
    async def complete(*_arguments: Any) -> types.Completion:
        return types.Completion(values=["test"], total=1, has_more=False)

    async def accepted(_context: Any, _params: Any) -> types.EmptyResult:
        return types.EmptyResult()

    methods = {
        "logging/setLevel": types.SetLevelRequestParams,
        "resources/subscribe": types.SubscribeRequestParams,
        "resources/unsubscribe": types.UnsubscribeRequestParams,
    }
    for method, params in methods.items():
        server._lowlevel_server.add_request_handler(method, params, accepted)


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _done(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(text)])


def _elicit(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=_text(text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))
