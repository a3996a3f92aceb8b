package state

import (
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// SandboxWords says what holds for a question's command in the words of the windows: "files: changes in /srv/app only · network: off · enforced".
// What it does not know is said as it came.
func SandboxWords(q protocol.Approval) string {
	files, network, ok := strings.Cut(q.Sandbox, ", network ")
	files, fine := strings.CutPrefix(files, "files ")
	if !ok || !fine {
		return q.Sandbox
	}
	switch files {
	case "workspace-write":
		files = "changes in " + writable(q.Host) + " only"
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
	if !strings.Contains(words, notEnforced) {
		words += " · enforced"
	}
	return words
}

// writable names what commands may change on a machine.
func writable(h *protocol.HostInfo) string {
	if h == nil || h.Workspace == "" {
		return "the workspace and the allowed folders"
	}
	if slices.ContainsFunc(h.Folders, func(f protocol.Folder) bool { return !f.ReadOnly && f.Path != h.Workspace }) {
		return h.Workspace + " and the allowed folders"
	}
	return h.Workspace
}
