#!/bin/sh
# Installs MCP servers of other authors from npm and PyPI into a cache, and lets the agent use them.
# It needs npm, python3, git and the network. Usage: packaging/mcp-servers.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
dir="${1:-${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/mcp-servers}"
mkdir -p "$dir"
npm install --no-audit --no-fund --silent --prefix "$dir" \
	@modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory
[ -x "$dir/py/bin/pip" ] || python3 -m venv "$dir/py"
"$dir/py/bin/pip" install --quiet mcp-server-time mcp-server-git mcp-server-fetch
# At its first use, mcp-server-fetch installs a package of npm beside itself, where the sandbox lets it
# write nothing.
"$dir/py/bin/python" -c 'from readabilipy import simple_json; simple_json.simple_json_from_html_string("<p>x</p>", use_readability=True)' >/dev/null
FAIRLEAD_REAL_SERVERS="$dir" go test ./gateway/servers -run TestRealServers -count=1 -v
