#!/bin/sh
# Lets the conformance suite of MCP judge the client with which the gateway uses MCP servers, for both
# versions of the protocol. It needs npm and the network.
set -eu
cd "$(dirname "$0")/.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fairlead"
dir="$cache/mcp-npm"
[ -x "$dir/node_modules/.bin/conformance" ] ||
	npm install --no-audit --no-fund --silent --prefix "$dir" node@24.21.0 @modelcontextprotocol/conformance@0.2.0-alpha.12
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
go test -c -o "$work/client" ./gateway/servers
for version in 2025-11-25 2026-07-28; do
	status=0
	(cd "$dir" && node_modules/node/bin/node node_modules/.bin/conformance client --requirements "$version" --command "$work/client" -o "$work/$version") \
		>"$work/log" 2>&1 || status=$?
	sed -n '/SUITE SUMMARY/,$p' "$work/log"
	[ "$status" = 0 ] || exit "$status"
done
