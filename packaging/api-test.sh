#!/usr/bin/env bash
# packaging/api-test.sh [CASES]
#
# Tests the REST interface with programs that know nothing of Fairlead: oasdiff compares the OpenAPI document with
# that of the last release, Redocly checks it against the standard, and schemathesis calls a real gateway with
# CASES random requests for each tool (default 150), right and wrong ones. They are installed into the folder
# ${XDG_CACHE_HOME:-~/.cache}/fairlead. Where one cannot be had, the script says so and goes on.
#
# The gateway runs in a temporary folder. Its rules allow changes in that folder and three harmless commands, which
# run in the sandbox; everything else is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${1:-150}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead
document=gateway/surface/rest/testdata/openapi.json
mkdir -p "$cache"

note() { echo "NOTE: $*"; }
go=${GO:-go}

if $go run github.com/oasdiff/oasdiff@v1.35.0 --version >/dev/null 2>&1; then
  $go run github.com/oasdiff/oasdiff@v1.35.0 breaking --fail-on WARN docs/openapi-0.1.json "$document"
else
  note "oasdiff cannot be had here; nobody looked for breaking changes of the API"
fi

redocly=$cache/redocly/node_modules/.bin/redocly
[ -x "$redocly" ] || { mkdir -p "$cache/redocly" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache/redocly" @redocly/cli@2.77.0 >/dev/null 2>&1; } || true
if [ -x "$redocly" ]; then
  REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true "$redocly" lint --format=github-actions "$document"
else
  note "Redocly cannot be had here; the OpenAPI document was not linted"
fi

schemathesis=$cache/schemathesis/bin/schemathesis
[ -x "$schemathesis" ] || { python3 -m venv "$cache/schemathesis" && "$cache/schemathesis/bin/pip" install --quiet schemathesis==4.32.5; } >/dev/null 2>&1 || true
if [ ! -x "$schemathesis" ]; then
  note "schemathesis cannot be had here; the API was not tested with random calls"
  exit 0
fi

work=$(mktemp -d)
gateway=
trap '[ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
CGO_ENABLED=0 $go build -o "$work/fairlead" ./gateway/cmd/fairlead
export FAIRLEAD_HOME=$work/home API_TEST_FOLDER=$work/box
mkdir -p "$work/box/folder"
echo 'hello' >"$work/box/a.txt"
echo 'needle' >"$work/box/folder/b.txt"
head -c 100000 /dev/urandom >"$work/box/binary"
fairlead() { "$work/fairlead" "$@"; }
for port in 18790 18791 18792 18793; do
  export FAIRLEAD_URL=ws://127.0.0.1:$port/ws
  "$work/fairlead" gateway --node --node-id box --workspace "$work/box" --listen "127.0.0.1:$port" >"$work/log" 2>&1 &
  gateway=$!
  for _ in $(seq 600); do
    kill -0 "$gateway" 2>/dev/null || break
    fairlead status 2>/dev/null | grep -q 'box.*online' && break 2
    sleep 0.1
  done
  kill "$gateway" 2>/dev/null || true
  gateway=
done
[ -n "$gateway" ] || { cat "$work/log" >&2; exit 1; }

for tool in Read Write Edit Glob Grep; do
  fairlead approvals rules add '{"tool":"'$tool'","path":"**","verdict":"allow"}' >/dev/null
done
for tool in net_interfaces net_metrics net_routes net_dns gsv__ReadFile gsv__WriteFile gsv__EditFile gsv__DeleteFile; do
  fairlead approvals rules add '{"tool":"'$tool'","verdict":"allow"}' >/dev/null
done
for argv in '["echo","*"]' '["cat"]'; do
  fairlead approvals rules add '{"tool":"Bash","argv":'$argv',"verdict":"allow"}' >/dev/null
done
fairlead config set approvals.timeoutMs 20 >/dev/null # nobody is here to answer
token=$(fairlead tokens create --name schemathesis --json --scopes network.read,shell.exec,fs.read,fs.write,net.read,tools.all | sed 's/.*"token": *"\([^"]*\)".*/\1/;t;d')

cd "$work"
PYTHONPATH=$OLDPWD/packaging/apitest SCHEMATHESIS_HOOKS=hooks "$schemathesis" \
  --config-file "$OLDPWD/packaging/apitest/schemathesis.toml" run "http://127.0.0.1:$port/api/v1/openapi.json" \
  --header "Authorization: Bearer $token" --max-examples "$cases" --workers 4 --seed 1 --phases examples,coverage,fuzzing --no-shrink \
  --exclude-checks positive_data_acceptance --request-timeout 60 --suppress-health-check all --continue-on-failure --generation-database none |
  tee "$work/cases"
generated=$(sed -n 's/^ *\([0-9]*\) generated.*/\1/p' "$work/cases")
if [ $# = 0 ] && [ "${generated:-0}" -lt 5000 ]; then
  echo "only ${generated:-0} random requests were made, not 5,000" >&2
  exit 1
fi
if grep -E 'panic|level=ERROR' "$work/log"; then
  echo "the gateway reported an error" >&2
  exit 1
fi
