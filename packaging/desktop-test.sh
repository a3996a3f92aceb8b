#!/usr/bin/env bash
# packaging/desktop-test.sh
#
# Drives the built ./fairlead-desktop in a real X desktop as a person would (app/desktoptest). Pictures of every step are left in
# build/desktop-test, or in FAIRLEAD_SHOTS.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop FAIRLEAD_SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/desktop-test}
rm -rf "$FAIRLEAD_SHOTS"
mkdir -p build
go test -c -tags desktop -o build/desktop.test ./app/desktoptest
exec packaging/desktop-session.sh --panel -- build/desktop.test -test.v -test.timeout 45m
