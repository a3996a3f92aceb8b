#!/usr/bin/env bash
# packaging/mcp-servers.sh
#
# Lets the agent use MCP servers of other authors, from npm and PyPI, in the sandbox of its machine.
#
# The servers are installed into ${XDG_CACHE_HOME:-~/.cache}/fairlead/mcp-servers the first time: 50 MB from npm,
# 130 MB from PyPI. Where they cannot be had, the script says so and exits successfully. With them it takes about a
# minute; one of them is downloaded each time, by npx. The timeout is for hanging tests.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/mcp-servers
npm=(@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
  @modelcontextprotocol/server-memory@2026.8.31)
pypi=(mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 mcp-server-fetch==2026.10.24)
quick="--fetch-retries=1 --fetch-retry-maxtimeout=5000 --fetch-retry-mintimeout=1000"

skip() {
  echo "NOTE: $1; the agent's use of MCP servers is tested with our own server only"
  exit 0
}
for tool in npm npx python3 git; do
  command -v $tool >/dev/null || skip "$tool is missing"
done
npm view $quick "${npm[0]}" version >/dev/null 2>&1 || skip "npm does not answer here"

install() {
  npm install --no-audit --no-fund $quick --prefix "$dir" "${npm[@]}" &&
    python3 -m venv "$dir/py" &&
    "$dir/py/bin/pip" install --quiet "${pypi[@]}" &&
    # At its first use, mcp-server-fetch installs a package of npm beside itself, where the sandbox lets it
    # write nothing.
    "$dir/py/bin/python" -c 'from readabilipy import simple_json; simple_json.simple_json_from_html_string("<p>x</p>", use_readability=True)'
}
versions="${npm[*]} ${pypi[*]}"
if [ "$(cat "$dir/versions" 2>/dev/null)" != "$versions" ]; then
  rm -rf "$dir" && mkdir -p "$dir"
  install >"$dir.log" 2>&1 || skip "the servers cannot be installed here (see $dir.log)"
  echo "$versions" >"$dir/versions"
fi

out=$(mktemp)
trap 'rm -f "$out"' EXIT
FAIRLEAD_REAL_SERVERS="$dir" ${GO:-go} test ./gateway/servers -run TestRealServers -count=1 -timeout 30m -v >"$out" 2>&1 || {
  cat "$out"
  exit 1
}
sed -n 's/^ *--- PASS: TestRealServersServeTheAgent\/\(.*\) (\(.*\)s)/ok: MCP server \1 (\2 s)/p' "$out"
