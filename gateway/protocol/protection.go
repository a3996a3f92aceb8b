package protocol

import (
	"cmp"
	"strings"
)

// Unprotected returns the online machines on which nothing keeps commands from changing files that
// start programs later, each with what is missing there. everywhere means that no online machine
// does: then neither a trusted chat nor a default that allows is offered. Without a machine, no
// command can run, and both are.
func Unprotected(nodes []NodeInfo) (machines []string, everywhere bool) {
	online := 0
	for _, n := range nodes {
		if !n.Online {
			continue
		}
		online++
		if ok, missing := n.Host.Protects(); !ok {
			machines = append(machines, n.DisplayName()+" ("+cmp.Or(missing, "unknown reason")+")")
		}
	}
	return machines, online > 0 && len(machines) == online
}

// NotOffered says why a mode or a default that allows everything is not offered.
func NotOffered(what string, machines []string) string {
	return what + " is not available: nothing protects start-up files from commands on " + strings.Join(machines, ", ")
}

// CheckProtected returns an error if a mode or a default that allows everything is not offered.
func CheckProtected(what string, nodes []NodeInfo) error {
	if machines, everywhere := Unprotected(nodes); everywhere {
		return ErrBadRequest.With(NotOffered(what, machines))
	}
	return nil
}

// StillAsks says on which machines commands that cannot be read completely need an approval although
// everything is allowed; empty without one.
func StillAsks(machines []string) string {
	if len(machines) == 0 {
		return ""
	}
	return "Unknown commands still ask where nothing protects start-up files: " + strings.Join(machines, ", ")
}

// NotEnforced is the phrase with which a machine reports a missing restriction.
const NotEnforced = "not enforced on this machine"
