#!/bin/sh
# Installs Fairlead's node for this user. It was made by the gateway at {{.Base}} and checks what it downloads from there.
set -eu

base='{{.Base}}'
pin='{{.Pin}}'

fail() { echo "install: $*" >&2; exit 1; }

# All of it is one function, so that nothing runs of a script that was cut off on its way.
install_node() {
	into="${FAIRLEAD_BIN:-${HOME:?is not set: say with FAIRLEAD_BIN where to}/.local/bin}"
	case "$(uname -s)" in
		Linux) os=linux ;;
		Darwin) os=darwin ;;
		*) fail "this script is for Linux and macOS; on Windows use install.ps1" ;;
	esac
	case "$(uname -m)" in
		x86_64 | amd64) arch=amd64 ;;
		aarch64 | arm64) arch=arm64 ;;
		armv7* | armv6*) arch=arm ;;
		i?86) arch=386 ;;
		riscv64) arch=riscv64 ;;
		*) fail "no node is made for $(uname -m)" ;;
	esac
	case "$os-$arch" in
{{- range .Files}}
		{{.Platform}}) name='{{.Name}}' sum='{{.Sum}}' ;;
{{- end}}
		*) fail "this gateway ships no node for $os-$arch: {{.Missing}}" ;;
	esac

	command -v curl >/dev/null || fail "curl is needed"
	mkdir -p "$into"
	new="$(mktemp "$into/.fairlead-node.XXXXXX")"
	trap 'rm -f "$new"' EXIT
	trap 'exit 130' HUP INT TERM # not every shell does what EXIT says at a signal
	if [ -n "$pin" ]; then
		curl -fsSk --pinnedpubkey "sha256//$pin" -o "$new" "$base/install/$name" || fail "could not download $name"
	else
		curl -fsS -o "$new" "$base/install/$name" || fail "could not download $name"
	fi
	if command -v sha256sum >/dev/null; then
		got="$(sha256sum "$new")"
	else
		got="$(shasum -a 256 "$new")"
	fi
	got="${got#\\}" # how a name with a backslash is told
	[ "${got%% *}" = "$sum" ] || fail "what was downloaded is not what the gateway ships: nothing was installed"
	chmod 755 "$new"
	mv -f "$new" "$into/fairlead-node"
	trap - EXIT
	echo "Installed $into/fairlead-node."
	case "$into" in
		*[!A-Za-z0-9/._-]*) run="'$(printf %s "$into/fairlead-node" | sed "s/'/'\\\\''/g")'" ;; # as a shell takes it
		*) run="$into/fairlead-node" ;;
	esac
	case ":$PATH:" in
		*":$into:"*) run=fairlead-node ;;
	esac
	echo "Pair this machine with the link or code that \"fairlead pair\" shows at the gateway:"
	echo "  $run --pair LINK --workspace FOLDER"
}

install_node
