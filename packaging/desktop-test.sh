#!/usr/bin/env bash
# packaging/desktop-test.sh
#
# Tests the built ./fairlead-desktop in a real X desktop, as a person would use it (app/desktoptest). Stores
# pictures of every step in build/desktop-test, or in FAIRLEAD_SHOTS.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop FAIRLEAD_SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/desktop-test}
rm -rf "$FAIRLEAD_SHOTS"
mkdir -p build
go test -c -tags desktop -o build/desktop.test ./app/desktoptest
exec packaging/desktop-session.sh --panel -- build/desktop.test -test.v -test.timeout 45m
