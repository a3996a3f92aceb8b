// Package setup is what the command lines fairlead and fairlead-node share: the flags of a node, and
// its pairing at a terminal.
package setup

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/direct"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
)

// Flags are the flags for a node's identity and restrictions. Grants is added by the program.
type Flags struct {
	ID, Workspace, Mode, Network, Direct string
	Receive, ReceiveFrom, ReceiveFolder  string
	Grants                               []string
	WholeDisk                            bool
}

// GrantUsage describes the flag for Grants.
const GrantUsage = "`folder` outside the workspace that may be used too, DIR or DIR:ro; can be repeated"

// FlagSet is a flag.FlagSet or a pflag.FlagSet.
type FlagSet interface {
	StringVar(value *string, name, def, usage string)
	BoolVar(value *bool, name string, def bool, usage string)
}

// Add adds the flags, except the one for Grants. id is the name of the flag for the node's ID. Only a
// node in a process of its own can have direct transfers.
func (f *Flags) Add(to FlagSet, id string, own bool) {
	to.StringVar(&f.ID, id, f.ID, "name of the node (default: the host's name)")
	to.StringVar(&f.Workspace, "workspace", f.Workspace, "the node's workspace (default: the current folder)")
	to.StringVar(&f.Mode, "sandbox", string(sandbox.WorkspaceWrite), "what commands may change: read-only (applies to file tools and transfers too), workspace-write or full")
	to.StringVar(&f.Network, "network", string(sandbox.NetBlocked), "network access of commands: blocked, ask (for each command that needs it) or allowed")
	to.BoolVar(&f.WholeDisk, "whole-disk", false, "let file tools use the whole disk instead of only the workspace")
	to.StringVar(&f.Receive, "receive", transfer.Trusted, "files accepted by this machine: trusted, ask (at this machine's terminal) or off")
	to.StringVar(&f.ReceiveFrom, "receive-from", "", "accept files only from these `machines`, separated by commas; gsv is the agent's workspace, @here a window or command line")
	to.StringVar(&f.ReceiveFolder, "receive-folder", "", "accept files only into this `folder`, which must be in the workspace or granted")
	if own {
		to.StringVar(&f.Direct, "direct", direct.Off, direct.Usage)
	}
}

// Default returns the options of a node with the host's name and the current folder where none is
// given.
func Default(id, dir, version string) node.Options {
	if id == "" {
		host, _ := os.Hostname()
		id = string(protocol.CleanNodeID(host))
	}
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return node.Options{ID: protocol.NodeID(id), Workspace: dir, Version: version}
}

// Options returns the options of the node without its gateway and data folder. With transfer.Ask, it
// asks at this process's terminal, if there is one, and prints to stderr. Every error is about a
// flag.
func (f *Flags) Options(version string, stderr io.Writer) (opts node.Options, err error) {
	opts = Default(f.ID, f.Workspace, version)
	if _, err = protocol.ParseNodeID(string(opts.ID)); err != nil {
		return opts, err
	}
	if opts.Confine, err = node.ParseConfinement(f.Mode, f.Network, f.Grants); err != nil {
		return opts, err
	}
	if f.WholeDisk {
		opts.Confine.WholeDisk = true
	}
	if opts.Receive, err = transfer.ParsePolicy(f.Receive, f.ReceiveFrom, f.ReceiveFolder); err != nil {
		return opts, err
	}
	if opts.Receive.Mode == transfer.Ask && term.IsTerminal(int(os.Stdin.Fd())) {
		opts.Receive.Ask = transfer.AskAt(os.Stdin, stderr)
	}
	if opts.Direct, err = direct.Parse(f.Direct); err != nil {
		return opts, fmt.Errorf("--direct: %w", err)
	}
	return opts, nil
}
