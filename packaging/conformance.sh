#!/usr/bin/env bash
# packaging/conformance.sh
#
# Lets independent programs judge Fairlead's MCP server, its sign-in, and its client of MCP servers:
#   - the conformance suite of MCP: all that the protocol versions 2025-11-25 and 2026-07-28 require of servers and of
#     clients, and its test of authorization servers;
#   - bad servers, written with the Python and the TypeScript SDK;
#   - the MCP Inspector, and the Python and the TypeScript client, with both versions, over HTTP and over fairlead mcp;
#   - Claude Code, Codex, Gemini CLI and opencode over fairlead mcp, with a scripted model.
# They use the built ./fairlead; the suite a gateway that has the suite's tools, too (packaging/conformance).
#
# The programs are installed into ${XDG_CACHE_HOME:-~/.cache}/fairlead the first time: 1.6 GB from npm, 40 MB from
# PyPI. Where they cannot be had, the script says so and exits successfully. With them it takes about two minutes on an
# idle machine; the timeouts are for hanging programs.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead
npm=(node@24.21.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/client@2.4.0
  @modelcontextprotocol/server@2.4.0)
agents=(@anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33)
python=mcp==2.3.0

for tool in npm curl timeout; do
  command -v $tool >/dev/null && continue
  echo "NOTE: $tool is missing, so that no independent program judges the MCP server; Go tests do"
  exit 0
done

# install DIR VERSIONS COMMAND...: runs COMMAND in a new DIR, unless DIR has these versions already.
install() {
  local dir=$1 versions=$2
  [ "$(cat "$dir/versions" 2>/dev/null)" = "$versions" ] && return
  rm -rf "$dir" && mkdir -p "$dir"
  (cd "$dir" && "${@:3}") >"$cache/install.log" 2>&1 && echo "$versions" >"$dir/versions"
}
npm_install() { npm install --no-audit --no-fund --fetch-retries=1 --fetch-retry-maxtimeout=5000 --fetch-retry-mintimeout=1000 "$@"; }
if ! install "$cache/mcp-npm" "${npm[*]}" npm_install "${npm[@]}"; then
  echo "NOTE: the MCP referees cannot be installed here (npm: see $cache/install.log); MCP is tested by Go tests only"
  exit 0
fi
bin=$cache/mcp-npm/node_modules/.bin
node() { (cd "$cache/mcp-npm" && timeout 600 node_modules/node/bin/node "$@"); }
field() { node -p 'JSON.parse(require("fs").readFileSync(0))'"$1"; } # of JSON on standard input
has_python=yes
install "$cache/mcp-python" "$python" sh -c "python3 -m venv . && bin/pip install --quiet $python" || {
  has_python=
  echo "NOTE: the Python client of MCP cannot be installed here (see $cache/install.log); its tour is left out"
}

has_agents=yes
install "$cache/mcp-agents" "${agents[*]}" npm_install "${agents[@]}" || {
  has_agents=
  echo "NOTE: the agents cannot be installed here (npm: see $cache/install.log); their tours are left out"
}

work=$(mktemp -d)
programs=()
stop() {
  for p in "${programs[@]}"; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT
export FAIRLEAD_SECRETS=file FAIRLEAD_TOKEN=fl_conformance

# check NAME COMMAND...: runs a command that must succeed, and shows its output only if it fails.
check() {
  local began=$SECONDS
  if ! "${@:2}" >"$work/log" 2>&1; then
    echo "FAILED: $1"
    cat "$work/log"
    tail -n 20 "$work/owner.log" 2>/dev/null || true
    exit 1
  fi
  echo "ok: $1 ($((SECONDS - began)) s)"
}

# address FILE PATTERN: waits for the first address that fits in a file.
address() {
  for _ in $(seq 1800); do
    grep -om1 "$2" "$1" && return
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}

# The suite, with a gateway that has its tools. What fails of extensions, such as tasks, it does not count.
fixture=$(${GO:-go} list -m -f '{{.Dir}}' github.com/modelcontextprotocol/go-sdk)/conformance/everything-server/main.go
sed 's/^func main() {/func fixtureMain() {/' "$fixture" >"$work/fixture.go"
echo "{\"Replace\":{\"$PWD/packaging/conformance/fixture.go\":\"$work/fixture.go\"}}" >"$work/overlay.json"
${GO:-go} build -tags conformance -overlay "$work/overlay.json" -o "$work/suite" ./packaging/conformance
FAIRLEAD_HOME=$work/suite-home "$work/suite" >"$work/suite.log" 2>&1 &
programs+=($!)
at=$(address "$work/suite.log" 'http://[^ ]*/mcp')
# Go's reverse proxy, which adds the token, loses one answer in thousands, also in front of the SDK's own fixture without
# Fairlead: a set that fails is run again. What fails three times in a row is a failure.
suite() {
  for _ in 1 2 3; do
    node "$bin/conformance" server --url "$at" --requirements "$1" --timeout 30000 && return
  done
  return 1
}
for version in 2025-11-25 2026-07-28; do
  check "server conformance, $version" suite $version
done

# The client with which the gateway uses MCP servers; the test binary of its package plays the suite's client.
${GO:-go} test -c -o "$work/client" ./gateway/servers
client() { (cd "$cache/mcp-npm" && timeout 1200 node_modules/node/bin/node "$bin/conformance" client --requirements "$1" --timeout 120000 --command "$work/client" -o "$work/client-$1"); }
for version in 2025-11-25 2026-07-28; do
  check "client conformance, $version" client $version
done

# Servers with the SDKs of others that do wrong what these do not prevent. The gateway stays well.
export FAIRLEAD_BAD_NODE=$cache/mcp-npm/node_modules/node/bin/node FAIRLEAD_BAD_MODULES=$cache/mcp-npm
[ -z "$has_python" ] || export FAIRLEAD_BAD_PYTHON=$cache/mcp-python/bin/python
check "bad servers" ${GO:-go} test ./gateway/servers -run TestBadServersOfOtherSDKs -count=1

# A real gateway. Its owner answers here, late enough that clients are asked whether to go on waiting.
export FAIRLEAD_HOME=$work/home
mkdir "$work/agents"
./fairlead gateway --node --listen 127.0.0.1:0 --workspace "$work/agents" >"$work/gateway.log" 2>&1 &
programs+=($!)
FAIRLEAD_URL=$(address "$work/gateway.log" 'ws://[^ ]*/ws')
export FAIRLEAD_URL
base=http://${FAIRLEAD_URL#ws://} && base=${base%/ws}
address "$work/gateway.log" 'Node connected' >/dev/null
./fairlead config set api.waitMs 1000
while sleep 0.3; do
  for id in $(./fairlead approvals list --json | field '.questions.map(q => q.id).join(" ")'); do
    sleep 2
    ./fairlead approvals allow "$id" || true # its call has ended
  done
done >"$work/owner.log" 2>&1 &
programs+=($!)

# Signing in: the suite prints an address for a browser, whose page leads back to the suite after the consent.
authorize() {
  local callback=http://127.0.0.1:$((20000 + RANDOM % 12000)) id page code # below the ports of outgoing connections
  id=$(curl -fsS --json "{\"client_name\":\"Suite\",\"redirect_uris\":[\"$callback/callback\"]}" "$base/oauth/register" | field .client_id)
  node "$bin/conformance" authorization --url "$base" --resource "$base/mcp" --client-id "$id" --port "${callback##*:}" >"$work/authorize.log" 2>&1 &
  page=$(curl -fsSL -o /dev/null -w '%{url_effective}' "$(address "$work/authorize.log" "$base/oauth/authorize[^ ]*")")
  code=$(./fairlead tokens list --json | field '.questions[0].app.code')
  ./fairlead approve "$code" && curl -fsSL -o /dev/null "$page" || true # the suite closes the connection
  wait $! && cat "$work/authorize.log" && grep -q 'Total: 3 passed, 0 failed' "$work/authorize.log"
}
check "authorization server" authorize

token=$(./fairlead tokens create --name Tour --scopes network.read,shell.exec,fs.read,fs.write,net.read,tools.all --json | field .token)
machine=$(./fairlead nodes list --json | field '.nodes[0].id')
inspect() {
  local era=$1 target=$2
  shift 2
  if [ "$target" = http ]; then
    node "$bin/mcp-inspector" --cli --server-url "$base/mcp" --header "Authorization: Bearer $token" --protocol-era "$era" "$@"
  else
    node "$bin/mcp-inspector" --cli -e "FAIRLEAD_TOKEN=$token" -e "FAIRLEAD_URL=$FAIRLEAD_URL" --protocol-era "$era" "$@" "$PWD/fairlead" mcp
  fi
}
inspector() {
  inspect "$@" --method tools/list --strict &&
    inspect "$@" --method tools/call --tool-name whoami &&
    inspect "$@" --method resources/list &&
    inspect "$@" --method resources/read --uri "fairlead://machines/$machine" &&
    inspect "$@" --method prompts/list &&
    inspect "$@" --method prompts/get --prompt-name tidy-folder
}
tour=$PWD/packaging/conformance/tour tour_of_agents=$PWD/packaging/conformance/agents.mjs program=$PWD/fairlead
for era in legacy modern; do
  for target in http stdio; do
    check "inspector, $era, $target" inspector $era $target
  done
done
for era in legacy 2026-07-28; do
  check "TypeScript client, $era, http" node "$tour.mjs" $era "$token" "$base/mcp"
  check "TypeScript client, $era, stdio" node "$tour.mjs" $era "$token" "$FAIRLEAD_URL" "$program" mcp
  [ -n "$has_python" ] || continue
  check "Python client, $era, http" "$cache/mcp-python/bin/python" "$tour.py" $era "$token" "$base/mcp"
  check "Python client, $era, stdio" "$cache/mcp-python/bin/python" "$tour.py" $era "$token" "$FAIRLEAD_URL" "$program" mcp
done

# agent NAME: an agent that starts slowly asks its model before it has the tools of Fairlead, so that the tour is tried again.
agent() {
  for try in 1 2 3; do
    mkdir -p "$work/agents/$1-$try"
    (cd "$cache/mcp-agents" && FAIRLEAD_TOKEN=$token timeout 600 "$cache/mcp-npm/node_modules/node/bin/node" "$tour_of_agents" "$1" "$work/agents/$1-$try" "$machine" "$program") && return
  done
  return 1
}
for name in claude codex gemini opencode; do
  [ -n "$has_agents" ] || continue
  if ! (PATH=$cache/mcp-npm/node_modules/node/bin:$PATH timeout 300 "$cache/mcp-agents/node_modules/.bin/$name" --version >"$work/log" 2>&1); then
    echo "NOTE: $name does not start here ($(tail -1 "$work/log")); its tour is left out"
    continue
  fi
  check "$name, stdio" agent $name
done
