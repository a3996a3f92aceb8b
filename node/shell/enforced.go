package shell

import (
	"strings"

	"fairlead/node/sandbox"
)

const (
	notEnforced = "not enforced on this machine"
	fullAccess  = "full access, as set for this machine, including keys and tokens of Fairlead and others"
)

// Enforced describes in one line, for approvals and results, what is enforced for commands with
// profile p on a machine with report r.
func Enforced(r sandbox.Report, p sandbox.Profile) string {
	if p.Mode == sandbox.Full {
		return fullAccess
	}
	mode, network := p.Mode, p.Network
	if mode == "" {
		mode = sandbox.WorkspaceWrite
	}
	files := r.ConfinesFiles()
	blocked := network == "" || network == sandbox.NetBlocked
	net := blocked && r.BlocksNetwork()
	if !files && !net {
		return notEnforced
	}
	words := []string{"files " + string(mode), "network blocked"}
	if !files {
		words[0] = "files " + notEnforced
	}
	switch {
	case !blocked:
		words[1] = "network allowed"
	case !net:
		words[1] = "network " + notEnforced
	}
	return strings.Join(words, ", ")
}
