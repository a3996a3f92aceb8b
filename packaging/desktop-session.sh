#!/usr/bin/env bash
# packaging/desktop-session.sh [--panel] [--size WxH] -- COMMAND [ARG...]
#
# Runs COMMAND in a real X desktop on a machine without a screen: a D-Bus session bus of its own, an X server
# with software OpenGL, a window manager, an unlocked Secret Service keyring, and with --panel a panel that
# supports StatusNotifier tray icons. COMMAND gets DISPLAY and DBUS_SESSION_BUS_ADDRESS in its environment;
# everything stops with it. The keyring is in a temporary data folder, so that the user's own keyring is never
# touched. packaging/deps.sh test installs the required packages.
set -euo pipefail

panel=; size=1280x900
while [ $# -gt 0 ]; do
  case $1 in
    --panel) panel=1; shift ;;
    --size) size=$2; shift 2 ;;
    --) shift; break ;;
    *) echo "desktop-session: unknown option $1" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || { echo "desktop-session: no command" >&2; exit 2; }

if [ -z "${FAIRLEAD_IN_BUS:-}" ]; then
  export FAIRLEAD_IN_BUS=1
  exec dbus-run-session -- "$0" ${panel:+--panel} --size "$size" -- "$@"
fi

work=$(mktemp -d)
pids=()
cleanup() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  # A program that ends with its display may still write a file there.
  for _ in $(seq 600); do rm -rf "$work" 2>/dev/null && return; sleep 0.1; done
  rm -rf "$work"
}
trap cleanup EXIT
export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
mkdir -p -m 700 "$XDG_DATA_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"

# -r turns off key repeat: on a busy machine a key was released too late, and its letter appeared twice.
Xvfb -r -displayfd 4 -screen 0 "${size}x24" -nolisten tcp 4>"$work/display" >/dev/null 2>&1 &
pids+=($!)
for _ in $(seq 600); do [ -s "$work/display" ] && break; sleep 0.1; done
[ -s "$work/display" ] || { echo "desktop-session: the X server did not start" >&2; exit 1; }
DISPLAY=":$(tr -d '\n' <"$work/display")"
export DISPLAY LANG=${LANG:-C.UTF-8} LIBGL_ALWAYS_SOFTWARE=1 XDG_CURRENT_DESKTOP=XFCE
unset WAYLAND_DISPLAY

openbox >/dev/null 2>&1 & pids+=($!)
printf '\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 || true
if [ -n "$panel" ]; then
  xfce4-panel --disable-wm-check >/dev/null 2>&1 & pids+=($!)
  for _ in $(seq 600); do
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
      string:org.kde.StatusNotifierWatcher 2>/dev/null | grep -q 'boolean true' && break
    sleep 0.1
  done
fi

"$@"
