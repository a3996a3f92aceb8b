#!/usr/bin/env bash
# packaging/deps.sh [build|test|services|wine|windows]
#
# Lists and installs the Debian packages that Fairlead needs and this machine lacks. "build" (the default) has
# the packages for compiling the desktop program. "test" adds those that the tests start: an X server, a window
# manager, a panel with a tray, a keyring, an XMPP server, a certificate authority, bubblewrap, ripgrep, programs that everyday commands
# start, and disks of Windows. "services" has a browser and apps of others (packaging/services-test.sh). "wine" is for running the Windows code (packaging/wine-test.sh), "windows" for building the desktop
# program for Windows. Run as root, or as a user who may use sudo. Without apt it prints what to install and
# exits with status 1.
set -euo pipefail

build="gcc libc6-dev pkg-config libgl1-mesa-dev xorg-dev libwayland-dev libxkbcommon-dev"
# Programs of everyday commands (gateway/testdata/daily.txt): on Debian 12, 39 MB to fetch and 138 MB installed in addition to the
# other packages for tests. The limit is 150 MB. shellcheck, miller, php-cli, gdb and age would be 85 MB more; their rows run
# where they are installed.
daily="datamash jo moreutils parallel pv entr fd-find bat silversearcher-ag tree gawk m4 bc dc cpio pax libarchive-tools p7zip-full pigz
  brotli lzip lzop ncompress libxml2-utils xmlstarlet dos2unix recode wdiff colordiff html2text w3m shfmt ruby rdiff xdelta3
  bsdiff mtools genisoimage squashfs-tools graphviz qpdf poppler-utils ccrypt units sharutils socat patchutils tidy bison flex
  universal-ctags indent xsltproc busybox rename"
tests="xvfb xdotool x11-utils xclip imagemagick libgl1-mesa-dri openbox dbus dbus-x11 gnome-keyring libsecret-tools
  xfce4-panel adwaita-icon-theme tesseract-ocr prosody pebble zbar-tools bubblewrap
  pcmanfm curl iproute2 ripgrep git make python3-venv rsync zip unzip jq sqlite3 mercurial subversion tmux expect ed vim
  ntfs-3g dosfstools fusefat exfatprogs exfat-fuse $daily"

case ${1:-build} in
  build) want=$build ;;
  test) want="$build $tests" ;;
  services) want="chromium vim htop novnc websockify x11vnc xterm xvfb iproute2 nftables" ;;
  wine) want="wine wine64 binutils-mingw-w64-x86-64" ;;
  windows) want="gcc-mingw-w64-x86-64" ;;
  *) echo "usage: packaging/deps.sh [build|test|services|wine|windows]" >&2; exit 2 ;;
esac

case $(uname -s) in
  Darwin) xcode-select -p >/dev/null 2>&1 || { echo "Fairlead needs the Xcode command line tools: xcode-select --install" >&2; exit 1; }; exit 0 ;;
  Linux) ;;
  *) exit 0 ;;
esac
if ! command -v dpkg-query >/dev/null; then
  command -v gcc >/dev/null && command -v pkg-config >/dev/null && exit 0
  echo "This is not a Debian-like system. Install the counterparts of these Debian packages, then try again:" >&2
  echo "  $(echo $want)" >&2
  exit 1
fi

missing=()
for p in $want; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)" = installed ] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Fairlead needs ${#missing[@]} Debian packages that are not here. Installing:"
printf '  %s\n' "${missing[*]}"
as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Run this as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# Try again if a mirror does not answer, and wait for other programs that are installing packages.
apt=($as_root apt-get -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
