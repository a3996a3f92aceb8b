package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Sandbox lists the restrictions of commands that a machine is known to enforce, because it has
// tested them. The zero value means none.
type Sandbox struct {
	// Writes means that commands and their child processes can change files only in Writable.
	Writes   bool
	Writable []string // absolute folders
	// Hidden are absolute paths of files and folders that commands cannot read, including
	// everything below them.
	Hidden []string
}

// RequiredChecks are the sandbox checks (node/sandbox) that a machine must pass. Without one of
// them, a command could reach any file through another program, a service or io_uring.
var RequiredChecks = []string{"fs.write.outside", "syscall.ptrace", "syscall.io_uring", "unix.sockets", "net.tcp", "net.mptcp"}

// scratch are the folders for a command's own temporary files. Some of them may be writable in a
// sandbox in which nothing else is.
var scratch = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders"}

// sandboxOf returns the restrictions that a machine is known to enforce. If commands may use the
// network, they can reach services that act for them, so the result is then empty.
func sandboxOf(h *protocol.HostInfo) (s Sandbox) {
	if h == nil || h.Enforcement == nil || h.Enforcement.Mode == "full" || h.Enforcement.Network != "blocked" {
		return s
	}
	enforced := map[string]bool{}
	for _, c := range h.Enforcement.Checks {
		enforced[c.ID] = c.Enforced
	}
	if slices.ContainsFunc(RequiredChecks, func(id string) bool { return !enforced[id] }) {
		return s
	}
	s.Writes, s.Writable = true, slices.Clone(scratch)
	opened := []string{h.Workspace}
	for _, f := range h.Folders {
		opened = append(opened, Real(h.Aliases, f.Path))
		if !f.ReadOnly && h.Enforcement.Mode != "read-only" {
			s.Writable = append(s.Writable, f.Path)
		}
	}
	if h.Enforcement.Mode != "read-only" {
		s.Writable = append(s.Writable, h.Workspace)
	}
	if !enforced["fs.read.secrets"] {
		return s
	}
	for _, place := range h.Enforcement.Hidden {
		if !slices.ContainsFunc(opened, func(dir string) bool { return dir == place || strings.HasPrefix(dir, place+"/") }) {
			s.Hidden = append(s.Hidden, place)
		}
	}
	return s
}

// Files returns a sentence that says which rules about files apply to the code that a call runs. It
// is empty when the command itself names the files that it opens, or when there are no such rules.
func (d Decision) Files() string {
	var parts []string
	if len(d.Unenforced) > 0 {
		parts = append(parts, "the code it runs may access "+joinFew(d.Unenforced)+" despite your rules")
	}
	if len(d.Enforced) > 0 {
		parts = append(parts, "the sandbox protects "+joinFew(d.Enforced))
	}
	return strings.Join(parts, "; ")
}

// joinFew joins the first few entries of a list.
func joinFew(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		list = append(slices.Clone(list[:most]), "more")
	}
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " and " + list[n]
	}
	return list[0]
}
