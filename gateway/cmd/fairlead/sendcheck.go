package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// check returns an error for invalid flags and empty arguments, such as unset variables of a
// script.
func (s sendFlags) check(args []string, fromGiven bool) error {
	for _, c := range []struct {
		flag, value string
		legal       []string
	}{
		{"conflict", s.conflict, []string{protocol.ConflictRename, protocol.ConflictOverwrite, protocol.ConflictSkip}},
		{"links", s.links, []string{protocol.LinksKeep, protocol.LinksFollow, protocol.LinksSkip}},
	} {
		if !slices.Contains(c.legal, c.value) {
			return &exitError{code: exitUsage, err: fmt.Errorf("--%s must be one of %s, not %q", c.flag, strings.Join(c.legal, ", "), c.value)}
		}
	}
	switch {
	case slices.Contains(args, ""):
		return &exitError{code: exitUsage, err: errors.New("a path is empty: use . for the current folder")}
	case s.from == "" && fromGiven:
		return &exitError{code: exitUsage, err: errors.New("--from is empty: give the machine that has the files, or omit it for this computer")}
	case s.wait < 0:
		return &exitError{code: exitUsage, err: fmt.Errorf("--later must be a duration such as 24h, not %s", s.wait)}
	}
	return nil
}

// explainDashFile explains how to name a file whose name was taken for a flag.
func explainDashFile(cmd *cobra.Command, err error) error {
	for _, a := range os.Args[1:] {
		if a == "--" {
			break
		}
		if _, statErr := os.Lstat(a); statErr == nil && len(a) > 1 && a[0] == '-' {
			return &exitError{code: exitUsage, err: fmt.Errorf("%w. For a file with this name, use ./%s\nTry: %s --help", err, a, cmd.CommandPath())}
		}
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("%s\nTry: %s --help", plainFlag(err), cmd.CommandPath())}
}

// checkMachines returns an error that says that no machine has a name, or how to wait for one that
// is offline. If that cannot be determined, the gateway decides.
func checkMachines(ctx context.Context, c *connection, p protocol.TransferStartParams) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, n := range nodes {
		names = append(names, string(n.ID))
	}
	for _, end := range []string{p.Sources[0], p.Destination} {
		name, _, _ := strings.Cut(end, ":")
		i := slices.Index(names, name)
		switch {
		case name == string(protocol.Here) || name == string(protocol.NativePrefix) || name == "":
		case i < 0:
			there := "; no machine is paired"
			if len(names) > 0 {
				there = ". Machines: " + strings.Join(names, ", ")
			}
			return &exitError{code: exitUsage, err: fmt.Errorf("no machine is named %q%s", name, there)}
		case !nodes[i].Online && !p.Later:
			return protocol.ErrUnavailable.With(fmt.Sprintf("%s is offline. To send when it connects, add --later 24h", name))
		}
	}
	return nil
}
