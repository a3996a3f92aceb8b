package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func nodesCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "nodes", Short: "List and manage machines", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listNodes(o, cmd) },
	}
	rename := &cobra.Command{
		Use: "rename NODE NAME", Short: "Set a machine's display name; \"\" removes it", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return updateNode(o, cmd, protocol.NodesUpdateParams{NodeID: protocol.NodeID(args[0]), Name: &args[1]})
		},
	}
	colour := &cobra.Command{
		Use: "color NODE COLOR", Aliases: []string{"colour"}, Args: cobra.ExactArgs(2),
		Short: "Set a machine's colour: " + strings.Join(protocol.NodeColours, ", ") + "; \"\" removes it",
		RunE: func(cmd *cobra.Command, args []string) error {
			return updateNode(o, cmd, protocol.NodesUpdateParams{NodeID: protocol.NodeID(args[0]), Colour: &args[1]})
		},
	}
	var force bool
	forget := &cobra.Command{
		Use: "forget NODE", Short: "Remove a machine from the list until it connects again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.NodeForget, protocol.NodeForgetParams{NodeID: protocol.NodeID(args[0]), Force: force})
				switch {
				case errors.Is(err, protocol.ErrConflict) && !force:
					return fmt.Errorf("%w. To remove it anyway: fairlead nodes forget %s --force", err, args[0])
				case err != nil:
					return err
				case o.json:
					return printJSON(cmd.OutOrStdout(), r)
				case !r.Removed:
					return protocol.ErrNotFound.With(fmt.Sprintf("no machine is named %s", args[0]))
				}
				return nil
			})
		},
	}
	forget.Flags().BoolVar(&force, "force", false, "also remove a connected machine, which is disconnected first")
	var lines int
	logs := &cobra.Command{
		Use: "logs NODE", Short: "Show the last log lines of a machine", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return printLogs(o, cmd, args[0], lines) },
	}
	logs.Flags().IntVarP(&lines, "lines", "n", protocol.DefaultLogLines, "number of lines, at most 5000")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List all machines, including offline ones", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listNodes(o, cmd) },
	},
		&cobra.Command{
			Use: "show NODE", Short: "Show a machine's details", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return showNode(o, cmd, protocol.NodeID(args[0])) },
		},
		&cobra.Command{
			Use: "revoke NODE", Short: "Revoke a machine's pairing", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return onDevice(o, cmd, args[0], protocol.DeviceRevoke) },
		},
		rename, colour, forget, logs)
	return cmd
}

func updateNode(o *options, cmd *cobra.Command, p protocol.NodesUpdateParams) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		n, err := call(ctx, c, protocol.NodesUpdate, p)
		if err == nil && o.json {
			err = printJSON(cmd.OutOrStdout(), n)
		}
		return err
	})
}

func listNodes(o *options, cmd *cobra.Command) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		nodes, err := c.nodes(ctx)
		if err != nil {
			return err
		}
		r := protocol.NodesListResult{Nodes: nodes}
		if o.json {
			return printJSON(cmd.OutOrStdout(), r)
		}
		if len(r.Nodes) == 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "No machines. To add one: fairlead pair, or start the gateway with --node.")
			return nil
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, n := range r.Nodes {
			system := n.Platform
			if n.Host != nil && n.Host.OS != "" {
				system = n.Host.OS
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.ID, presence(n), flat(system), n.Name)
		}
		return w.Flush()
	})
}

// presence describes a machine's connection: the measured round trip, or since when it is offline.
func presence(n protocol.NodeInfo) string {
	switch {
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("online, %s", milliseconds(n.PingMs))
	case n.Online:
		return "online"
	case n.LastSeenAt > 0:
		return "offline, last seen " + ago(n.LastSeenAt)
	}
	return "offline"
}

func milliseconds(ms float64) string {
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// ago returns the time since at (Unix milliseconds), in the largest unit that fits.
func ago(at int64) string {
	d := time.Since(time.UnixMilli(at))
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

func showNode(o *options, cmd *cobra.Command, id protocol.NodeID) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		nodes, err := c.nodes(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(nodes, func(n protocol.NodeInfo) bool { return n.ID == id })
		if i < 0 {
			return noMachine(id)
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), nodes[i])
		}
		return printNode(cmd.OutOrStdout(), nodes[i])
	})
}

func printNode(out io.Writer, n protocol.NodeInfo) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, flat(value)) // the machine's own description
		}
	}
	row("machine", string(n.ID))
	row("name", n.Name)
	row("colour", n.Colour)
	row("presence", presence(n))
	row("platform", n.Platform)
	row("version", n.Version)
	if h := n.Host; h != nil {
		row("system", strings.TrimSpace(h.OS+" "+h.Arch))
		row("host", h.Hostname)
		row("user", h.User)
		row("workspace", h.Workspace)
		for _, f := range h.Folders[min(1, len(h.Folders)):] {
			how := ""
			if f.ReadOnly {
				how = ", read-only"
			}
			row("folder", f.Path+how)
		}
		if h.WholeDisk {
			row("folder", "the whole disk")
		}
		row("sandbox", protocol.DescribeSandbox(h.Sandbox, h))
	}
	if n.Direct {
		row("transfers", "directly to machines on its local network that allow it")
	}
	row("tools", strings.Join(n.Tools, ", "))
	row("need your approval", strings.Join(n.Held, ", "))
	row("can", strings.Join(n.Caps, ", "))
	row("device", string(n.Device))
	return w.Flush()
}
