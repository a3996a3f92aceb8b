package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead/node/transfer"
)

// receiveFlags are the flags of the node's policy for incoming transfers.
type receiveFlags struct{ mode, from, folder string }

func (r *receiveFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.mode, "receive", transfer.Trusted, "files accepted by this machine: trusted, ask (at this machine's terminal) or off")
	f.StringVar(&r.from, "receive-from", "", "accept files only from these `machines`, separated by commas; gsv is the agent's workspace, @here a window or command line")
	f.StringVar(&r.folder, "receive-folder", "", "accept files only into this `folder`, which must be in the workspace or granted")
}

// parse returns the policy. It asks at this process's terminal, if there is one.
func (r *receiveFlags) parse() (transfer.Policy, error) {
	p, err := transfer.ParsePolicy(r.mode, r.from, r.folder)
	if err != nil {
		return p, &exitError{code: exitUsage, err: err}
	}
	if p.Mode == transfer.Ask && term.IsTerminal(int(os.Stdin.Fd())) {
		p.Ask = transfer.AskAt(os.Stdin, os.Stderr)
	}
	return p, nil
}
