package protocol

import (
	"slices"
	"strings"
)

// NotEnforced is the phrase with which a machine reports a missing restriction.
const NotEnforced = "not enforced on this machine"

// DescribeSandbox turns the one line in which a machine describes its sandbox ([HostInfo] and
// [Approval], Sandbox) into plain words: "files: changes in /srv/app only · network: off ·
// enforced". Unknown parts are passed through. h may be nil.
func DescribeSandbox(sandbox string, h *HostInfo) string {
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

// writable describes what commands may change on a machine.
func writable(h *HostInfo) string {
	if h == nil || h.Workspace == "" {
		return "the workspace and the allowed folders"
	}
	if slices.ContainsFunc(h.Folders, func(f Folder) bool { return !f.ReadOnly && f.Path != h.Workspace }) {
		return h.Workspace + " and the allowed folders"
	}
	return h.Workspace
}
