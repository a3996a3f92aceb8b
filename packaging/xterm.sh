#!/usr/bin/env bash
# packaging/xterm.sh [check]
#
# Builds gateway/service/console/xterm, the terminal emulator of the pages of terminals, from the npm packages that
# packaging/xterm/package-lock.json names with their checksums. With "check" it writes nothing, and fails where the files in
# the repository are not that build; where npm cannot be had, it says so and exits successfully.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp packaging/xterm/*.js* "$work"
# esbuild runs without its script for the installation, and no other package has one.
if ! (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1) >"$work/log" 2>&1; then
  tail -5 "$work/log" >&2
  [ "${1:-}" = check ] || exit 1
  echo "NOTE: npm cannot be had here; the build of xterm.js was not checked"
  exit 0
fi

cd "$work"
npm=node_modules/@xterm
versions=$(node -p "Object.entries(require('./package.json').dependencies).map(([name, version]) => name + ' ' + version).join(', ')")
mkdir built
node_modules/.bin/esbuild entry.js --bundle --minify --format=esm --legal-comments=none --log-level=warning \
  --banner:js="/* $versions, under the MIT licence in LICENSE. Built by packaging/xterm.sh. */" --outfile=built/xterm.js
cp $npm/xterm/css/xterm.css built/
for package in xterm addon-fit addon-unicode11 addon-web-links; do
  echo "@xterm/$package"
  echo
  cat $npm/$package/LICENSE
  echo
done >built/LICENSE

cd - >/dev/null
if [ "${1:-}" = check ]; then
  diff -rq "$work/built" gateway/service/console/xterm || { echo "run packaging/xterm.sh" >&2; exit 1; }
else
  cp "$work"/built/* gateway/service/console/xterm/
fi
