package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

func nodesCommand(o *options) *cobra.Command {
	list := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		nodes, err := machinesOf(c).list(ctx)
		return show(c, protocol.NodesListResult{Nodes: nodes}, err, printNodes)
	})
	update := func(set func(p *protocol.NodesUpdateParams, value *string)) runner {
		return o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			p := protocol.NodesUpdateParams{NodeID: machinesOf(c).id(ctx, args[0])}
			set(&p, &args[1])
			return showCall(ctx, c, protocol.NodesUpdate, p, nil)
		})
	}
	rename := update(func(p *protocol.NodesUpdateParams, name *string) { p.Name = name })
	colour := update(func(p *protocol.NodesUpdateParams, colour *string) { p.Colour = colour })
	color := command("color NODE COLOR", "Set a machine's colour: "+strings.Join(protocol.NodeColours, ", ")+"; \"\" removes it", cobra.ExactArgs(2), colour)
	color.Aliases = []string{"colour"}
	cmd := command("nodes", "List and manage machines", cobra.NoArgs, list)
	cmd.AddCommand(command("list", "List all machines, including offline ones", cobra.NoArgs, list),
		command("show NODE", "Show a machine's details", cobra.ExactArgs(1), o.onGateway(showNode)),
		command("revoke NODE", "Revoke a machine's pairing", cobra.ExactArgs(1), o.onDevice(changeDevice(protocol.DeviceRevoke))),
		command("rename NODE NAME", "Set a machine's display name; \"\" removes it", cobra.ExactArgs(2), rename),
		color, forgetNodeCommand(o), logsCommand(o, "logs NODE"))
	return cmd
}

func forgetNodeCommand(o *options) *cobra.Command {
	var force bool
	cmd := command("forget NODE", "Remove a machine from the list until it connects again", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			r, err := call(ctx, c, protocol.NodeForget, protocol.NodeForgetParams{NodeID: machinesOf(c).id(ctx, args[0]), Force: force})
			if errors.Is(err, protocol.ErrConflict) && !force {
				return fmt.Errorf("%w. To remove it anyway: fairlead nodes forget %s --force", err, args[0])
			}
			return show(c, r, err, func(io.Writer, protocol.NodeForgetResult) error {
				if !r.Removed {
					return protocol.ErrNotFound.With(fmt.Sprintf("no machine is named %s", args[0]))
				}
				return nil
			})
		}))
	cmd.Flags().BoolVar(&force, "force", false, "also remove a connected machine, which is disconnected first")
	return cmd
}

func printNodes(out io.Writer, r protocol.NodesListResult) error {
	var t table
	for _, n := range r.Nodes {
		system := n.Platform
		if n.Host != nil {
			system = cmp.Or(n.Host.OS, system)
		}
		t.row(string(n.ID), presence(n), flat(system), n.Name)
	}
	return t.print(out, "No machines. Add one with fairlead pair, or start the gateway with --node to use this one.")
}

// presence describes a machine's connection: the measured round trip, or since when it is offline.
func presence(n protocol.NodeInfo) string {
	switch {
	case n.Online && n.PingMs > 0 && n.PingMs < 10:
		return fmt.Sprintf("online, %.1f ms", n.PingMs)
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("online, %.0f ms", n.PingMs)
	case n.Online:
		return "online"
	case n.LastSeenAt > 0:
		return "offline, last seen " + ago(n.LastSeenAt)
	}
	return "offline"
}

// ago returns the time since at (Unix milliseconds), in the largest unit that fits.
func ago(at int64) string { return format.Ago(at, time.Now()) }

func showNode(ctx context.Context, c *connection, args []string) error {
	nodes, err := machinesOf(c).list(ctx)
	if err != nil {
		return err
	}
	machine, ok := findMachine(nodes, args[0])
	if !ok {
		return noMachine(protocol.NodeID(args[0]))
	}
	var networks protocol.NetworksListResult
	if c.offers(protocol.NetworksList.Name) {
		if networks, err = call(ctx, c, protocol.NetworksList, protocol.Empty{}); err != nil {
			return err
		}
	}
	return show(c, machine, nil, func(out io.Writer, n protocol.NodeInfo) error { return printNode(out, n, networks.Networks) })
}

func printNode(out io.Writer, n protocol.NodeInfo, networks []protocol.Network) error {
	var t table
	t.value("machine", string(n.ID))
	t.value("name", n.Name)
	t.value("colour", n.Colour)
	for _, w := range networks {
		if w.ID == n.Network {
			t.value("network", w.Name)
		}
	}
	t.value("presence", presence(n))
	t.value("platform", n.Platform)
	t.value("version", n.Version)
	if h := n.Host; h != nil {
		t.value("system", strings.TrimSpace(h.OS+" "+h.Arch))
		t.value("host", h.Hostname)
		t.value("user", h.User)
		t.value("workspace", h.Workspace)
		for _, f := range h.Folders[min(1, len(h.Folders)):] {
			t.value("folder", folderText(f))
		}
		if h.WholeDisk {
			t.value("folder", "the whole disk")
		}
		t.value("sandbox", display.Sandbox(h.Sandbox, h))
	}
	if n.Direct {
		t.value("transfers", "directly to machines on its local network that allow it")
	}
	t.value("tools", strings.Join(n.Tools, ", "))
	t.value("need your approval", strings.Join(n.Held, ", "))
	t.value("can", strings.Join(n.Caps, ", "))
	t.value("device", string(n.Device))
	return t.print(out, "")
}

func folderText(f protocol.Folder) string {
	if f.ReadOnly {
		return f.Path + ", read-only"
	}
	return f.Path
}

// logsCommand makes the command that prints the log of a machine: its argument or its flag.
func logsCommand(o *options, use string) *cobra.Command {
	var node string
	var lines int
	args := cobra.ExactArgs(1)
	if use == "logs" {
		args = cobra.NoArgs
	}
	cmd := command(use, "Show the last log lines of a machine", args, o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		if len(args) > 0 {
			node = args[0]
		}
		n := float64(lines)
		r, err := call(ctx, c, protocol.GetLogs, protocol.LogsGetParams{NodeID: machinesOf(c).id(ctx, node), Lines: &n})
		if errors.Is(err, protocol.ErrUnavailable) && node != "" {
			if nodes, listErr := machinesOf(c).list(ctx); listErr == nil {
				if _, ok := findMachine(nodes, node); !ok {
					return noMachine(protocol.NodeID(node))
				}
			}
			return err
		}
		return show(c, r, err, func(out io.Writer, r protocol.LogsGetResult) error {
			for _, l := range r.Lines {
				fmt.Fprintln(out, l)
			}
			return nil
		})
	}))
	if use == "logs" {
		cmd.Flags().StringVar(&node, "node", "", "machine; required when several are connected")
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", protocol.DefaultLogLines, "number of lines, at most 5000")
	return cmd
}

func noMachine(id protocol.NodeID) error {
	if id == "" {
		return usageError("the machine name is empty; to list machines: fairlead nodes list")
	}
	return protocol.ErrNotFound.With(fmt.Sprintf("no machine is named %s; to list machines: fairlead nodes list", id))
}
