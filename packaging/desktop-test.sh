#!/usr/bin/env bash
# packaging/desktop-test.sh [REGEXP]
#
# Tests the built ./fairlead-desktop as a person would use it (app/desktoptest): all tests, or those whose names
# match. Each test has a real X desktop of its own, and FAIRLEAD_DESKTOPS of them (2) run at a time, because a person
# mostly waits. Stores pictures of every step and the output in build/desktop-test/TEST, or in FAIRLEAD_SHOTS/TEST.
# The output of a failed test is printed.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/desktop-test}
rm -rf "$SHOTS"
mkdir -p build "$SHOTS"
go test -c -tags desktop -o build/desktop.test ./app/desktoptest

# run_test TEST: prints its output in one piece, so that the tests' outputs do not mix.
run_test() {
  export FAIRLEAD_SHOTS=$SHOTS/$1
  mkdir "$FAIRLEAD_SHOTS"
  local log=$FAIRLEAD_SHOTS/output.log
  if packaging/desktop-session.sh --panel -- build/desktop.test -test.v -test.timeout 20m -test.run "^$1\$" >"$log" 2>&1; then
    grep '^--- ' "$log"
  else
    flock "$SHOTS" sh -c 'echo "FAILED: $1"; cat "$2"; echo "the end of its log:"; tail -n 40 "$(dirname "$2")/program.log"; echo "pictures of $1: $(dirname "$2")"' - "$1" "$log"
    return 1
  fi
}
export -f run_test
build/desktop.test -test.list "${1:-^Test}" | xargs -P "${FAIRLEAD_DESKTOPS:-2}" -I TEST bash -c 'run_test TEST'
