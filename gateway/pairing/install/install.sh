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
	if [ -n "${FAIRLEAD_PAIR:-}" ]; then
		pair_node
		start_node
		return
	fi
	run="$(quoted "$into/fairlead-node")"
	case ":$PATH:" in
		*":$into:"*) run=fairlead-node ;;
	esac
	echo "Pair this machine with the link or code that \"fairlead pair\" shows at the gateway:"
	echo "  $run --pair LINK --workspace FOLDER"
}

# quoted prints a path as a shell takes it.
quoted() {
	case "$1" in
		*[!A-Za-z0-9/._-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
		*) printf %s "$1" ;;
	esac
}

# pair_node pairs this machine. The link is a secret: it is neither an argument nor in the environment of the node.
pair_node() {
	link="$FAIRLEAD_PAIR" folder="${FAIRLEAD_WORKSPACE:-$HOME}" name="${FAIRLEAD_NAME:-}"
	unset FAIRLEAD_PAIR
	"$into/fairlead-node" --pair - --only-pair --workspace "$folder" ${name:+--id "$name"} <<-END || fail "this machine was not paired"
		$link
	END
}

# start_node starts the node now, and with this machine or this user's session where that can be set up.
start_node() {
	command="$into/fairlead-node --workspace $folder${name:+ --id $name}"
	case "$into$folder${FAIRLEAD_HOME:-}" in
		*[!A-Za-z0-9/._-]*) service=none ;; # a service would need other quotes or variables
		*) service=$os ;;
	esac
	unit="fairlead-node${FAIRLEAD_UNIT:+-$FAIRLEAD_UNIT}.service"
	if [ $service = linux ] && [ -d /run/systemd/system ]; then
		unit="$HOME/.config/systemd/user/$unit" user=--user target=default.target
		[ "$(id -u)" != 0 ] || unit="/etc/systemd/system/${unit##*/}" user=--system target=multi-user.target
		mkdir -p "${unit%/*}"
		cat >"$unit" <<-END
			[Unit]
			Description=Fairlead node
			[Service]
			ExecStart=$command
			${FAIRLEAD_HOME:+Environment=FAIRLEAD_HOME=$FAIRLEAD_HOME}
			Restart=always
			RestartSec=5
			[Install]
			WantedBy=$target
		END
		[ $user = --system ] || loginctl enable-linger 2>/dev/null || echo "The node stops when you sign out: an administrator can change that with loginctl enable-linger." >&2
		if systemctl $user daemon-reload && systemctl $user enable -q "${unit##*/}" && systemctl $user restart "${unit##*/}"; then
			echo "The node runs, and starts with this machine."
			return
		fi
		rm -f "$unit"
	elif [ $service = darwin ] && [ -z "${FAIRLEAD_HOME:-}" ]; then
		agent="$HOME/Library/LaunchAgents/fairlead-node.plist"
		mkdir -p "${agent%/*}"
		cat >"$agent" <<-END
			<?xml version="1.0" encoding="UTF-8"?>
			<plist version="1.0"><dict>
			<key>Label</key><string>fairlead-node</string>
			<key>ProgramArguments</key><array><string>$(echo "$command" | sed 's| |</string><string>|g')</string></array>
			<key>KeepAlive</key><true/>
			</dict></plist>
		END
		launchctl unload "$agent" 2>/dev/null || true
		if launchctl load -w "$agent"; then
			echo "The node runs, and starts when you sign in."
			return
		fi
		rm -f "$agent"
	fi
	apart="$(command -v setsid || command -v nohup)" || fail "neither setsid nor nohup is there to start the node"
	"$apart" "$into/fairlead-node" --workspace "$folder" ${name:+--id "$name"} </dev/null >/dev/null 2>&1 &
	echo "The node runs. After a restart of this machine, start it with:"
	echo "  $(quoted "$into/fairlead-node") --workspace $(quoted "$folder")${name:+ --id $name}"
}

install_node
