#!/usr/bin/env bash
# packaging/services-test.sh [long | TESTS]
#
# Lets headless Chromium visit apps that others wrote and the built programs publish: noVNC and websockify from Debian,
# esbuild from npm, copyparty from PyPI. Links, WebSockets, server-sent events, uploads and downloads, revocation, and
# kills are tested, as root also with a machine behind NAT; and terminals, with vim and htop. The terminal emulator of their
# pages must be the build of packaging/xterm.sh.
#
# With "long", the file that goes up and down has 1 GiB, not 64 MiB, the figures of docs/performance.md are measured, and
# pictures of the pages are stored in build/services, as with TESTS, an expression for the names of tests. esbuild and
# copyparty are installed into the folder ${XDG_CACHE_HOME:-~/.cache}/fairlead/services the first time. Where one of the
# programs cannot be had, the script says so and exits successfully. Run `make headless` first.
set -euo pipefail
cd "$(dirname "$0")/.."

apps=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/services
esbuild=esbuild@0.28.2 copyparty=copyparty==1.20.26
skip() {
  echo "NOTE: $1; published apps were not tested with a browser"
  exit 0
}
packaging/deps.sh services || skip "Chromium cannot be installed here"
if [ "$(cat "$apps/versions" 2>/dev/null)" != "$esbuild $copyparty" ]; then
  rm -rf "$apps" && mkdir -p "$apps"
  {
    npm install --no-audit --no-fund --fetch-retries=1 --prefix "$apps" $esbuild &&
      python3 -m venv "$apps/py" && "$apps/py/bin/pip" install --quiet $copyparty
  } >"$apps.log" 2>&1 || skip "the apps cannot be installed here (see $apps.log)"
  echo "$esbuild $copyparty" >"$apps/versions"
fi

packaging/xterm.sh check

export FAIRLEAD_PROGRAMS=$PWD FAIRLEAD_APPS=$apps
arguments=(-run "${1:-.}")
if [ $# -gt 0 ]; then
  export FAIRLEAD_PICTURES=$PWD/build/services
  mkdir -p "$FAIRLEAD_PICTURES"
fi
if [ "${1:-}" = long ]; then
  export FAIRLEAD_LARGE=$((1 << 30))
  arguments=(-v -bench .)
fi
cd packaging/servicestest
${GO:-go} test -count=1 -timeout 30m "${arguments[@]}" .
