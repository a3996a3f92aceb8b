"""bad.py FAULT: an MCP server with the Python SDK that does wrong what FAULT says. gateway/servers uses it in
TestBadServersOfOtherSDKs."""
import os
import sys

import anyio
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server

fault = sys.argv[1]


def tool(name, schema=None):
    return types.Tool(name=name, description="fine", input_schema=schema or {"type": "object"})


async def list_tools(ctx, params):
    tools, cursor = [tool("good"), tool("never"), tool("leave")], None
    if fault == "duplicates":
        tools += [tool("good"), tool("good")]
    elif fault == "cursor":
        cursor = "again"
    elif fault == "invalid":
        tools.append(tool("broken", {"type": "object", "properties": 7}))
    elif fault == "flood":
        for _ in range(500):
            await ctx.session.send_tool_list_changed()
    return types.ListToolsResult(tools=tools, next_cursor=cursor)


async def call_tool(ctx, params):
    if params.name == "never":
        await anyio.sleep_forever()
    if params.name == "leave":
        print("the disk of the server is full", file=sys.stderr, flush=True)
        os._exit(4)
    return types.CallToolResult(content=[types.TextContent(type="text", text="hello")])


async def main():
    if fault == "noise":
        print('{"level": "info", "message": "started"}\n{ not even JSON', flush=True)
    server = Server("bad", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(NotificationOptions(tools_changed=True)))


if fault == "exit":
    sys.exit("Error: API_KEY is not set")
anyio.run(main)
