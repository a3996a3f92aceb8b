#!/usr/bin/env bash
# packaging/macos-app.sh PROGRAM FOLDER
#
# Creates FOLDER/Fairlead.app from the desktop program, with the name and version in FyneApp.toml. Notifications
# have buttons only in such a bundle. On macOS it is signed for this machine ("ad hoc"); distribution requires a
# signature of Apple's developer programme.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: packaging/macos-app.sh PROGRAM FOLDER" >&2; exit 2; }
program=$1 app=$2/Fairlead.app
here=$(cd "$(dirname "$0")/.." && pwd)
of() { sed -n "s/^$1 *= *\"\{0,1\}\([^\"]*\)\"\{0,1\} *$/\1/p" "$here/FyneApp.toml"; }

rm -rf "$app"
mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources"
cp "$program" "$app/Contents/MacOS/fairlead-desktop"
cat > "$app/Contents/Info.plist" <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundlePackageType</key><string>APPL</string>
<key>CFBundleName</key><string>$(of Name)</string>
<key>CFBundleIdentifier</key><string>$(of ID)</string>
<key>CFBundleExecutable</key><string>fairlead-desktop</string>
<key>CFBundleIconFile</key><string>icon.icns</string>
<key>CFBundleShortVersionString</key><string>$(of Version)</string>
<key>CFBundleVersion</key><string>$(of Build)</string>
<key>CFBundleInfoDictionaryVersion</key><string>6.0</string>
<key>LSMinimumSystemVersion</key><string>12.0</string>
<key>NSHighResolutionCapable</key><true/>
</dict></plist>
END

# An icon file has its type and length, then type, length and PNG for each size; ic09 has 512 points.
png=$here/$(of Icon)
long() { printf "\\x$(printf %02x $(($1 >> 24 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 & 255)))"; }
size=$(wc -c < "$png")
{ printf icns; long $((size + 16)); printf ic09; long $((size + 8)); cat "$png"; } > "$app/Contents/Resources/icon.icns"

[ "$(uname -s)" != Darwin ] || codesign --force --sign - "$app"
echo "$app"
