#!/usr/bin/env bash
# packaging/measure-use.sh [MINUTES|stream]
#
# Prints the private memory and processor time of the built ./fairlead-desktop while a script uses it in a desktop
# session (default: 30 minutes): every page and window, chats with streamed answers, tool output and approvals; and
# then with the window open at rest, and hidden in the tray. With "stream" it prints the processor time while an
# answer of 33 words a second streams. Run `make app` first.
set -euo pipefail
cd "$(dirname "$0")/.."
test=TestMeasureUse
if [ "${1:-}" = stream ]; then
  export FAIRLEAD_STREAM=1
  test=TestMeasureStream
fi
export FAIRLEAD_MINUTES=${1:-30} FAIRLEAD_DESKTOP=$PWD/fairlead-desktop FAIRLEAD_SHOTS=$PWD/build/measure-use
mkdir -p build
go test -c -tags desktop -o build/desktop.test ./app/desktoptest
exec packaging/desktop-session.sh --panel -- build/desktop.test -test.v -test.timeout 0 -test.run "^$test\$"
