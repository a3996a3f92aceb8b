#!/usr/bin/env bash
# packaging/gallery.sh
#
# Drives the built ./fairlead-desktop through all its pages, empty and in use, dark and light, in the usual size and the smallest, and leaves
# a picture of each in build/gallery (or in FAIRLEAD_SHOTS) for a person to look at. `make app headless` first.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop FAIRLEAD_SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/gallery}
rm -rf "$FAIRLEAD_SHOTS"
mkdir -p build
go test -c -tags desktop,gallery -o build/gallery.test ./app/desktoptest
exec packaging/desktop-session.sh --panel -- build/gallery.test -test.v -test.timeout 30m -test.run TestGallery
