// A tour of Fairlead with agents that use its tools over the standard input and output of fairlead mcp.
//
// agents.mjs AGENT DIR MACHINE PROGRAM: AGENT is claude, codex, gemini or opencode, installed in the working directory. DIR is an
// empty folder for its settings, MACHINE has the tools, and PROGRAM is fairlead, with FAIRLEAD_TOKEN and FAIRLEAD_URL.
// The agent's model is this script: it asks for one tool after the other, and a person at Fairlead allows the commands.
// Any surprise is an exception.
import assert from "node:assert";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [agent, dir, machine, program] = process.argv.slice(2);

// What the model asks for, and what the answer must contain. The last call takes longer than the agent lives.
const session = (command) => ({ session: { node_name: machine, command } });
const steps = [
  ["whoami", {}, "user_id"],
  ["fs_stat", { target: { node_name: machine }, path: join(dir, "missing") }, "error"],
  ["fs_grep", { target: { node_name: machine }, path: join(dir, "work"), pattern: "needle" }, "haystack"],
  ["command", session("echo from the $((40 + 2)) tour"), "from the 42 tour"],
  ["command", session("sleep 30"), ""],
];
const results = [];
let cancelled;
const begunLast = new Promise((resolve) => (cancelled = resolve));

// next returns the next call for a conversation with these results of tools, or nothing to say the end. A call that waits for the
// owner is repeated, as its result says.
function next(all, names) {
  const texts = all.filter((t) => !t.includes("approval_required"));
  if (texts.length > results.length) results.push(...texts.slice(results.length));
  const [tool, args] = steps[texts.length] ?? [];
  const name = names.find((n) => n.includes("fairlead") && n.endsWith("_" + tool));
  if (!name) return null; // a request for a title, or the end
  if (texts.length === steps.length - 1) cancelled();
  return { id: "call_" + all.length, name, args };
}

const text = (v) => (typeof v === "string" ? v : JSON.stringify(v));
const events = (list) => list.map((e) => `${e.type ? `event: ${e.type}\n` : ""}data: ${JSON.stringify(e)}\n\n`).join("");

// The four protocols of models: each takes a request and returns the events of the answer.
const dialects = {
  "/messages": (r) => {
    const blocks = r.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
    const call = next(blocks.filter((b) => b.type === "tool_result").map((b) => text(b.content)), (r.tools ?? []).map((t) => t.name));
    const block = call ? { type: "tool_use", id: call.id, name: call.name, input: {} } : { type: "text", text: "" };
    const delta = call ? { type: "input_json_delta", partial_json: JSON.stringify(call.args) } : { type: "text_delta", text: "done" };
    const usage = { input_tokens: 1, output_tokens: 1 };
    return events([
      { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: r.model, content: [], usage } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn" }, usage },
      { type: "message_stop" },
    ]);
  },
  "/responses": (r) => {
    const names = (r.tools ?? []).flatMap((t) => (t.tools ? t.tools.map((x) => t.name + "\n" + x.name) : [t.name ?? ""]));
    const outputs = r.input.filter((i) => i.type === "function_call_output").map((i) => text(i.output));
    const call = next(outputs, names.map((n) => n.replace("\n", "_")));
    let item = { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "done" }] };
    if (call) {
      const [namespace, name] = names.find((n) => n.replace("\n", "_") === call.name).split("\n");
      item = { type: "function_call", id: "f", call_id: call.id, name: name ?? namespace, arguments: JSON.stringify(call.args) };
      if (name) item.namespace = namespace;
    }
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    return events([
      { type: "response.created", response: { id: "r" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r", usage } },
    ]);
  },
  "/chat/completions": (r) => {
    const outputs = r.messages.filter((m) => m.role === "tool").map((m) => text(m.content));
    const call = next(outputs, (r.tools ?? []).map((t) => t.function.name));
    const delta = call
      ? { role: "assistant", tool_calls: [{ index: 0, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } }] }
      : { role: "assistant", content: "done" };
    const chunk = (delta, finish_reason) => ({ id: "c", object: "chat.completion.chunk", created: 1, model: r.model, choices: [{ index: 0, delta, finish_reason }] });
    return events([chunk(delta, null), chunk({}, call ? "tool_calls" : "stop")]) + "data: [DONE]\n\n";
  },
  GenerateContent: (r) => {
    const parts = r.contents.flatMap((c) => c.parts ?? []);
    const outputs = parts.filter((p) => p.functionResponse).map((p) => text(p.functionResponse.response));
    const call = next(outputs, (r.tools ?? []).flatMap((t) => t.functionDeclarations ?? []).map((f) => f.name));
    const part = call ? { functionCall: { name: call.name, args: call.args } } : { text: "done" };
    return events([{ candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }]);
  },
};

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const path = new URL(request.url, "http://model").pathname;
  const dialect = Object.keys(dialects).find((d) => path.endsWith(d));
  if (!dialect) return response.writeHead(404, { "Content-Type": "application/json" }).end(`{"error":{"message":"not here"}}`);
  response.writeHead(200, { "Content-Type": "text/event-stream" }).end(dialects[dialect](JSON.parse(body)));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const model = "http://127.0.0.1:" + server.address().port;

// The agent talks through a script that records both directions.
const file = (name, content) => {
  const path = join(dir, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  return path;
};
const relay = file("relay", `#!/bin/sh\ntee ${dir}/in | ${program} mcp 2>${dir}/err | tee ${dir}/out\n`);
chmodSync(relay, 0o700);
const stdio = { command: relay, args: [] };
const env = { FAIRLEAD_TOKEN: process.env.FAIRLEAD_TOKEN, FAIRLEAD_URL: process.env.FAIRLEAD_URL };

const agents = {
  claude: () => {
    const servers = file("servers.json", JSON.stringify({ mcpServers: { fairlead: { ...stdio, env } } }));
    return ["-p", "go", "--model", "scripted", "--mcp-config", servers, "--strict-mcp-config", "--allowedTools", "mcp__fairlead"];
  },
  codex: () => {
    file("codex/config.toml", `
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
[mcp_servers.fairlead]
command = "${relay}"
env = { FAIRLEAD_TOKEN = "${env.FAIRLEAD_TOKEN}", FAIRLEAD_URL = "${env.FAIRLEAD_URL}" }
`);
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"];
  },
  gemini: () => {
    const settings = { mcpServers: { fairlead: { ...stdio, env, trust: true } }, security: { auth: { selectedType: "gemini-api-key" } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } };
    file(".gemini/settings.json", JSON.stringify(settings));
    return ["-p", "go", "--yolo", "-m", "gemini-2.5-flash"];
  },
  opencode: () => {
    const provider = { npm: "@ai-sdk/openai-compatible", options: { baseURL: model + "/v1", apiKey: "none" }, models: { scripted: {} } };
    const mcp = { fairlead: { type: "local", command: [relay], environment: env, enabled: true } };
    file(".config/opencode/opencode.json", JSON.stringify({ provider: { scripted: provider }, model: "scripted/scripted", small_model: "scripted/scripted", mcp, autoupdate: false }));
    return ["run", "go"];
  },
};
const args = agents[agent]();
file("work/haystack", "a needle\n");
const child = spawn(join(process.cwd(), "node_modules/.bin", agent), args, {
  cwd: join(dir, "work"),
  detached: true,
  stdio: ["ignore", "pipe", "pipe"],
  env: {
    PATH: join(process.execPath, "..") + ":" + process.env.PATH, HOME: dir, TERM: "dumb", CI: "1",
    ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ENABLE_TOOL_SEARCH: "false",
    CODEX_HOME: join(dir, "codex"), GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: "true",
    OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1",
  },
});
let said = "";
for (const stream of [child.stdout, child.stderr]) stream.on("data", (b) => (said += b));
const over = new Promise((resolve) => child.on("close", resolve));
const read = (name) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), "utf8") : "");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const signal = (name) => {
  try {
    process.kill(-child.pid, name);
  } catch {} // it has ended
};
const limit = setTimeout(() => signal("SIGKILL"), 300_000);

try {
  await Promise.race([begunLast, over]);
  assert.equal(results.length, steps.length - 1, `the agent ended after ${results.length} results`);
  // It is cancelled while the last call runs.
  while (!read("in").includes("sleep 30") && child.exitCode === null) await wait(50);
  signal("SIGINT");
  await Promise.race([over, wait(10_000)]);
  signal("SIGTERM");
  await over;
  results.forEach((r, i) => assert.ok(r.includes(steps[i][2]), `${steps[i][0]}: ${r}`));
  assert.ok(!results.some((r) => r.includes("output schema")), results.join("\n"));
  assert.ok(!/panic/i.test(read("err")), read("err"));
  const tokens = [...read("in").matchAll(/"progressToken":([^,}]+)/g)].map((m) => m[1]);
  if (tokens.length) assert.ok(read("out").includes("notifications/progress"), "no progress for the tokens " + tokens);
  console.log(`${agent}: ${results.length} results, progress tokens ${tokens.join(" ") || "none"}`);
} catch (e) {
  console.error(said, results, read("err"));
  throw e;
} finally {
  clearTimeout(limit);
  signal("SIGKILL");
  server.closeAllConnections();
  server.close();
}
