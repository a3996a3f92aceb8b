#!/bin/sh
# Installs Debian's own build of llama-server into a folder, without root and without changing the system.
# DIR/llama-server then runs on any Debian-like system of the same architecture, with its own libc beside it.
#
#   packaging/llama-server.sh [DIR]      (default: ${XDG_CACHE_HOME:-~/.cache}/fairlead/llama-server)
#
# The packages come from Debian sid, through the mirror that this machine is configured with: no older release
# has the package llama.cpp-tools. FAIRLEAD_DEBIAN_MIRROR sets another mirror. If DIR has the server already, the
# script does nothing.
set -eu

dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/llama-server}
say() { printf '%s\n' "llama-server: $*" >&2; }
die() { say "$*"; exit 1; }

for tool in apt-get dpkg dpkg-deb flock; do
	command -v "$tool" >/dev/null || die "needs $tool, so it can be fetched on Debian-like systems only"
done
mkdir -p "$(dirname "$dir")"

# Test packages run concurrently and may all need it: one downloads, the others wait.
exec 9>"$dir.lock"
flock 9
[ -x "$dir/llama-server" ] && exit 0

# The first configured archive with a path ending in /debian, in either format of apt's sources.
mirror=${FAIRLEAD_DEBIAN_MIRROR:-$(
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -r "$f" ] && sed 's/#.*//' "$f"
	done | tr ' \t' '\n\n' | grep -E '^[a-z+]+:/.*/debian/?$' | head -n 1
)}
[ -n "$mirror" ] || die "no Debian archive in /etc/apt/sources.list*"

keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || die "needs the package debian-archive-keyring"

arch=$(dpkg --print-architecture)
work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/none" "$work/tree"
: >"$work/status" # an empty system, so that all dependencies are downloaded, including libc
echo "deb [signed-by=$keys arch=$arch] $mirror sid main" >"$work/sources.list"
# The machine's own apt.conf.d still applies, for proxies and certificates.
cat >"$work/apt.conf" <<CONF
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "$work/none";
Dir::Etc::Preferences "$work/none/preferences";
Dir::Etc::PreferencesParts "$work/none";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "60";
CONF

log=$work/log
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; die "failed: $*"; }; }
say "fetching llama.cpp-tools and what it needs from Debian sid"
quietly apt-get -c "$work/apt.conf" update
quietly apt-get -c "$work/apt.conf" --yes --download-only -o Debug::NoLocking=1 install llama.cpp-tools
for deb in "$work"/cache/archives/*.deb; do
	case ${deb##*/} in
	debconf_* | wget_*) ;; # dependencies of scripts that never run here
	*) quietly dpkg-deb -x "$deb" "$work/tree" ;;
	esac
done
rm -rf "$work/tree/usr/share" "$work/tree/etc" "$work/tree/var"

under() { find "$work/tree" -name "$1" | head -n 1 | sed "s|^$work/tree/||"; }
server=$(under llama-server)
loader=$(find "$work/tree" -type f -name 'ld-linux*' | head -n 1 | sed "s|^$work/tree/||")
libs=$(dirname "$(under 'libc.so.6')")
[ -n "$server" ] && [ -n "$loader" ] || die "the packages hold no llama-server or no loader"

# Run the loader explicitly, because this libc may be newer than the system's. The server finds its CPU backend
# by name only: use the one for processors with AVX2 if there is one, else the one with the lowest requirements.
plain=$(find "$work/tree" -name 'libggml-cpu*.so*' | sort | { grep -E 'x64|armv8\.0' || true; } | head -n 1 | sed "s|^$work/tree/||")
[ -n "$plain" ] || plain=$(under 'libggml-cpu*.so*')
fast=$(under 'libggml-cpu-haswell.so')
cat >"$work/tree/llama-server" <<WRAP
#!/bin/sh
root=\$(dirname "\$(readlink -f "\$0")")
backend=$plain
[ -n "$fast" ] && grep -q ' avx2 ' /proc/cpuinfo && grep -q ' fma ' /proc/cpuinfo && backend=$fast
export GGML_BACKEND_PATH="\$root/\$backend"
libs=\$root/$libs
for d in "\$libs"/*/; do libs=\$libs:\${d%/}; done
exec "\$root/$loader" --library-path "\$libs" "\$root/$server" "\$@"
WRAP
chmod 0755 "$work/tree/llama-server"
"$work/tree/llama-server" --version >"$log" 2>&1 || { cat "$log" >&2; die "the unpacked server does not start"; }

rm -rf "$dir"
mv "$work/tree" "$dir"
say "ready in $dir"
