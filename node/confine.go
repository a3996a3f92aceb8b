package node

import (
	"fmt"
	"path/filepath"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/shell"
	"fairlead/node/workspace"
)

// Confinement limits what a node's tools can reach. The zero value restricts files and commands to
// the workspace and blocks the network for commands.
type Confinement struct {
	// WholeDisk opens the whole disk to the file tools, instead of the workspace and Grants.
	WholeDisk bool
	Grants    []workspace.Grant
	// Mode applies to commands; "" means sandbox.WorkspaceWrite. With sandbox.ReadOnly, file tools
	// and transfers cannot change anything either.
	Mode sandbox.Mode
	// Network applies to commands; "" means sandbox.NetBlocked; AskNetwork blocks it except for
	// single commands.
	Network sandbox.Network
	Env     []string // further variables for contained commands: NAME or NAME=value
}

// AskNetwork blocks the network for commands until the person allows it for one of them.
const AskNetwork sandbox.Network = "ask"

// ParseConfinement parses flags: mode and network may be empty; a grant is DIR, DIR:rw or DIR:ro.
// Grants become absolute.
func ParseConfinement(mode, network string, grants []string) (c Confinement, err error) {
	c.Mode, c.Network = sandbox.Mode(mode), sandbox.Network(network)
	switch c.Mode {
	case "", sandbox.ReadOnly, sandbox.WorkspaceWrite, sandbox.Full:
	default:
		return c, fmt.Errorf("unknown sandbox mode %q: use read-only, workspace-write or full", mode)
	}
	switch c.Network {
	case "", sandbox.NetBlocked, sandbox.NetAllowed, AskNetwork:
	default:
		return c, fmt.Errorf("unknown network mode %q: use blocked, ask or allowed", network)
	}
	for _, text := range grants {
		g, err := workspace.ParseGrant(text)
		if err != nil {
			return c, err
		}
		if g.Dir, err = filepath.Abs(g.Dir); err != nil {
			return c, err
		}
		c.Grants = append(c.Grants, g)
	}
	return c, nil
}

func (c Confinement) profile(dir string) sandbox.Profile {
	p := sandbox.Profile{Mode: c.Mode, Network: c.Network, Workspace: dir}
	if p.Network == AskNetwork {
		p.Network = sandbox.NetBlocked
	}
	p = p.WithDefaults()
	for _, g := range c.Grants {
		if g.ReadOnly {
			p.Read = append(p.Read, g.Dir)
		} else {
			p.Write = append(p.Write, g.Dir)
		}
	}
	return p
}

func (c Confinement) enforcement(r sandbox.Report, dir string) (line string, e *protocol.Enforcement) {
	p := c.profile(dir)
	now := r.For(p)
	e = &protocol.Enforcement{Mode: string(p.Mode), Network: string(p.Network), Summary: string(r.Summary), Warnings: now.Warnings, Checks: now.Checks}
	e.Lends = c.Network == AskNetwork && p.Mode != sandbox.Full && r.BlocksNetwork()
	if e.Mode != string(sandbox.Full) {
		e.Hidden = sandbox.HiddenPaths()
	}
	return shell.Enforced(r, p), e
}
