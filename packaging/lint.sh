#!/usr/bin/env bash
# packaging/lint.sh LINTER [ARG...]
#
# Runs a linter of Go packages on this source tree. golangci-lint remembers packages by the paths of their files, and
# a package that it does not know takes seconds. Here each clone has the same path, a link in
# ${XDG_CACHE_HOME:-~/.cache}/fairlead, so that a new clone is checked as fast as an old one.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead
mkdir -p "$cache"
if command -v flock >/dev/null; then # another clone waits before it changes the link
  exec 9>"$cache/lint.lock"
  flock 9
fi
ln -sfn "$PWD" "$cache/source"
cd "$cache/source"
exec "$@"
