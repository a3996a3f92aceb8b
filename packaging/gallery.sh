#!/usr/bin/env bash
# packaging/gallery.sh [REGEXP]
#
# Takes pictures of all pages of the built ./fairlead-desktop for manual review: empty and in use, dark and
# light, in the default and the smallest size, with the largest text, and each kind of question. Each test of
# the gallery, or those whose names match, has a desktop of its own; two run at a time. Stores the pictures in
# build/gallery/TEST, or in FAIRLEAD_SHOTS/TEST, and index.html above them, which shows each page's pictures
# beside each other. TestGalleryOfTheReadme makes docs/chat.png and docs/approval.png. Run `make app headless` first.
set -euo pipefail
cd "$(dirname "$0")/.."
export FAIRLEAD_DESKTOP=$PWD/fairlead-desktop SHOTS=${FAIRLEAD_SHOTS:-$PWD/build/gallery}
[ -n "${1:-}" ] || rm -rf "$SHOTS"
mkdir -p build "$SHOTS"
go test -c -tags desktop,gallery -o build/gallery.test ./app/desktoptest

# run_test TEST: takes its pictures.
run_test() {
  export FAIRLEAD_SHOTS=$SHOTS/$1
  rm -rf "$FAIRLEAD_SHOTS"
  mkdir "$FAIRLEAD_SHOTS"
  local log=$FAIRLEAD_SHOTS/output.log
  packaging/desktop-session.sh --panel -- build/gallery.test -test.v -test.timeout 20m -test.run "^$1\$" >"$log" 2>&1 && grep '^--- ' "$log" && return
  echo "FAILED: $1, see $log"
  return 1
}
export -f run_test
status=0
build/gallery.test -test.list "${1:-^TestGalleryOf}" | xargs -P 2 -I TEST bash -c 'run_test TEST' || status=1
FAIRLEAD_SHOTS=$SHOTS build/gallery.test -test.run TestGalleryIndex >/dev/null
echo "$SHOTS/index.html"
exit $status
