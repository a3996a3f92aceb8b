#!/usr/bin/env bash
# packaging/gallery.sh
#
# Takes pictures of all pages of the built ./fairlead-desktop for manual review: empty and in use, dark and
# light, in the default and the smallest size, and with the largest text. Stores them in build/gallery, or in
# FAIRLEAD_SHOTS, with index.html, which shows each page's pictures beside each other. One of them, readme-chat.png,
# is docs/chat.png. Run `make app headless` first.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop FAIRLEAD_SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/gallery}
rm -rf "$FAIRLEAD_SHOTS"
mkdir -p build
go test -c -tags desktop,gallery -o build/gallery.test ./app/desktoptest
exec packaging/desktop-session.sh --panel -- build/gallery.test -test.v -test.timeout 30m -test.run TestGallery
