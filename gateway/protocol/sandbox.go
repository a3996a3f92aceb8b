package protocol

import (
	"slices"
	"strings"
)

// NotEnforced is how a machine says what it does not keep commands from.
const NotEnforced = "not enforced on this machine"

// SandboxWords says what holds for commands on a machine in plain words, from the one line that it says itself ([HostInfo] and [Approval], Sandbox):
// "files: changes in /srv/app only · network: off · enforced". What it does not know is said as it came. h may be nil.
func SandboxWords(sandbox string, h *HostInfo) string {
	files, network, ok := strings.Cut(sandbox, ", network ")
	files, fine := strings.CutPrefix(files, "files ")
	if !ok || !fine {
		return sandbox
	}
	switch files {
	case "workspace-write":
		files = "changes in " + writable(h) + " only"
	case "read-only":
		files = "no changes"
	}
	switch network {
	case "blocked":
		network = "off"
	case "allowed":
		network = "on"
	}
	words := "files: " + files + " · network: " + network
	if !strings.Contains(words, NotEnforced) {
		words += " · enforced"
	}
	return words
}

// writable names what commands may change on a machine.
func writable(h *HostInfo) string {
	if h == nil || h.Workspace == "" {
		return "the workspace and the allowed folders"
	}
	if slices.ContainsFunc(h.Folders, func(f Folder) bool { return !f.ReadOnly && f.Path != h.Workspace }) {
		return h.Workspace + " and the allowed folders"
	}
	return h.Workspace
}
