"""A tour of Fairlead with the Python client of MCP.

tour.py ERA TOKEN URL [PROGRAM ARGUMENT...]: over HTTP, or with PROGRAM over its standard input and output.
ERA is legacy or 2026-07-28. Any surprise is an exception.
"""

import asyncio
import json
import sys
import warnings

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, ResourceTemplateReference

warnings.filterwarnings("ignore")  # legacy methods are deprecated
era, token, url, *program = sys.argv[1:]
asked = []
updated = asyncio.Event()


async def elicit(context, params):
    """Goes on waiting: a person at Fairlead answers meanwhile."""
    asked.append(params.message)
    return ElicitResult(action="accept", content={})


async def heard(message):
    if getattr(message, "method", getattr(getattr(message, "root", None), "method", "")) == "notifications/resources/updated":
        updated.set()


async def tour(client):
    tools = {t.name: t for t in (await client.list_tools()).tools}
    assert "fs_stat" in tools and tools["fs_stat"].annotations.read_only_hint, sorted(tools)
    who = await client.call_tool("whoami", {})
    assert len(who.structured_content["user_id"]) == 36 and json.loads(who.content[0].text) == who.structured_content, who
    wrong = await client.call_tool("fs_stat", {"path": 7})
    assert wrong.is_error and "invalid_args" in wrong.content[0].text, wrong

    resources = {str(r.uri): r for r in (await client.list_resources()).resources}
    machine = next(r for r in resources.values() if str(r.uri).startswith("fairlead://machines/"))
    assert json.loads((await client.read_resource(str(machine.uri))).contents[0].text)["id"] == machine.name
    assert (await client.list_resource_templates()).resource_templates[0].name == "file"
    completed = await client.complete(
        ResourceTemplateReference(type="ref/resource", uri="fairlead://{machine}/file{+path}"), {"name": "machine", "value": machine.name[:1]}
    )
    assert machine.name in completed.completion.values, completed
    prompt = (await client.list_prompts()).prompts[0]
    assert (await client.get_prompt(prompt.name)).messages[0].content.text

    # The command waits for the owner, who is told so through the client and answers in Fairlead.
    command = {"session": {"node_name": machine.name, "command": "echo from the tour"}}
    if era == "legacy":
        await client.subscribe_resource("fairlead://journal")
        done = await client.call_tool("command", command)
        await asyncio.wait_for(updated.wait(), 20)
    else:
        async with client.listen(resource_subscriptions=["fairlead://journal"]) as changes:
            done = await client.call_tool("command", command)
            assert await asyncio.wait_for(anext(changes), 20)
    assert not done.is_error and "from the tour" in done.content[0].text, done
    assert len(asked) == 1 and "Fairlead" in asked[0], asked


async def main():
    options = {"mode": era, "elicitation_callback": elicit, "message_handler": heard}
    if program:
        server = StdioServerParameters(command=program[0], args=program[1:], env={"FAIRLEAD_TOKEN": token, "FAIRLEAD_URL": url})
        async with Client(server, **options) as client:
            await tour(client)
        return
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), **options) as client:
            await tour(client)


asyncio.run(main())
