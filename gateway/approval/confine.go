package approval

import (
	"slices"
	"strings"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// firm are the checks (node/sandbox) without which the sandbox of a machine keeps commands from no file: by another program, a service or io_uring they
// would reach all the same.
var firm = []string{"fs.write.outside", "syscall.ptrace", "syscall.io_uring", "unix.sockets", "net.tcp", "net.mptcp"}

// scratch are folders that hold a command's own temporary files: where nothing else may be written, something there may.
var scratch = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders"}

// sandboxOf is what a machine is known to keep commands from. Where they may use the network they reach services that would act for them, so that is
// nothing then.
func sandboxOf(h *protocol.HostInfo) (s policy.Sandbox) {
	if h == nil || h.Enforcement == nil || h.Enforcement.Mode == "full" || h.Enforcement.Network != "blocked" {
		return s
	}
	enforced := map[string]bool{}
	for _, c := range h.Enforcement.Checks {
		enforced[c.ID] = c.Enforced
	}
	if slices.ContainsFunc(firm, func(id string) bool { return !enforced[id] }) {
		return s
	}
	s.Writes, s.Writable = true, slices.Clone(scratch)
	opened := []string{h.Workspace}
	for _, f := range h.Folders {
		opened = append(opened, policy.Real(h.Aliases, f.Path))
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

// Files says in a sentence which rules about files hold for the code that a call runs; "" when its words tell which files it opens, or there are none.
func (d Decision) Files() string {
	var parts []string
	if len(d.loose) > 0 {
		parts = append(parts, "nothing keeps the code that it runs from "+several(d.loose))
	}
	if len(d.held) > 0 {
		parts = append(parts, "the sandbox keeps the code that it runs from "+several(d.held))
	}
	return strings.Join(parts, "; ")
}

// several names the first few of a list.
func several(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		list = append(slices.Clone(list[:most]), "more")
	}
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " and " + list[n]
	}
	return list[0]
}
