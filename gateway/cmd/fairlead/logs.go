package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func logsCommand(o *options) *cobra.Command {
	var node string
	var lines int
	cmd := &cobra.Command{
		Use: "logs", Short: "Show the last log lines of a machine", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printLogs(o, cmd, node, lines) },
	}
	cmd.Flags().StringVar(&node, "node", "", "machine; required when several are connected")
	cmd.Flags().IntVarP(&lines, "lines", "n", protocol.DefaultLogLines, "number of lines, at most 5000")
	return cmd
}

func printLogs(o *options, cmd *cobra.Command, node string, lines int) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		n := float64(lines)
		r, err := call(ctx, c, protocol.GetLogs, protocol.LogsGetParams{NodeID: protocol.NodeID(node), Lines: &n})
		if errors.Is(err, protocol.ErrUnavailable) && node != "" {
			return c.orUnknown(ctx, protocol.NodeID(node), err)
		}
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), r)
		}
		for _, l := range r.Lines {
			fmt.Fprintln(cmd.OutOrStdout(), l)
		}
		return nil
	})
}

// orUnknown returns err, which says that a machine is offline, or a better error if no machine has
// that name.
func (c *connection) orUnknown(ctx context.Context, id protocol.NodeID, err error) error {
	nodes, listErr := c.nodes(ctx)
	if listErr != nil || slices.ContainsFunc(nodes, func(n protocol.NodeInfo) bool { return n.ID == id }) {
		return err
	}
	return noMachine(id)
}

func noMachine(id protocol.NodeID) error {
	if id == "" {
		return &exitError{code: exitUsage, err: errors.New("the machine name is empty; to list machines: fairlead nodes list")}
	}
	return protocol.ErrNotFound.With(fmt.Sprintf("no machine is named %s; to list machines: fairlead nodes list", id))
}
