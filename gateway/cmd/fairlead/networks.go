package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func networksCommand(o *options) *cobra.Command {
	create := command("create NAME", "Create a network", cobra.ExactArgs(1),
		onMethod(o, protocol.NetworkCreate, func(args []string) (protocol.NetworkCreateParams, error) {
			return protocol.NetworkCreateParams{Name: args[0]}, nil
		}, func(out io.Writer, n protocol.Network) error {
			return printf(out, "Created the network %s (%s).\n", n.Name, n.ID)
		}))
	rename := command("rename NETWORK NAME", "Give a network another name", cobra.ExactArgs(2),
		onMethod(o, protocol.NetworkRename, func(args []string) (protocol.NetworkRenameParams, error) {
			return protocol.NetworkRenameParams{Network: args[0], Name: args[1]}, nil
		}, func(out io.Writer, n protocol.Network) error {
			return printf(out, "The network is named %s now.\n", n.Name)
		}))
	remove := command("delete NETWORK", "Delete a network without machines", cobra.ExactArgs(1),
		onMethod(o, protocol.NetworkDelete, func(args []string) (protocol.NetworkParams, error) {
			return protocol.NetworkParams{Network: args[0]}, nil
		}, func(out io.Writer, n protocol.Network) error { return printf(out, "Deleted the network %s.\n", n.Name) }))
	move := command("move NODE NETWORK", "Move a machine to a network", cobra.ExactArgs(2), o.onGateway(moveMachine))
	list := o.onGateway(listNetworks)
	cmd := command("networks", "List and manage the networks of your machines", cobra.NoArgs, list)
	cmd.AddCommand(command("list", "List the networks with their machines", cobra.NoArgs, list), create, rename, remove, move)
	cmd.Long = `A network is a group of machines. Each machine is in one; new ones join the default network.
Tokens, apps and chats can be limited to networks: they see and reach only the machines in theirs.`
	return cmd
}

func moveMachine(ctx context.Context, c *connection, args []string) error {
	n, err := call(ctx, c, protocol.NetworkMove, protocol.NetworkMoveParams{NodeID: machinesOf(c).id(ctx, args[0]), Network: args[1]})
	return show(c, n, err, func(out io.Writer, n protocol.NodeInfo) error {
		return printf(out, "Moved %s to the network %s.\n", flat(n.DisplayName()), flat(args[1]))
	})
}

// networkList is the networks with their machines.
type networkList struct {
	protocol.NetworksListResult
	nodes []protocol.NodeInfo
}

func listNetworks(ctx context.Context, c *connection, _ []string) error {
	var list networkList
	var err error
	if list.NetworksListResult, err = call(ctx, c, protocol.NetworksList, protocol.Empty{}); err == nil {
		list.nodes, err = machinesOf(c).list(ctx)
	}
	return show(c, list, err, printNetworks)
}

func printNetworks(out io.Writer, r networkList) error {
	var t table
	for _, w := range r.Networks {
		var names []string
		for _, n := range r.nodes {
			if n.Network == w.ID {
				names = append(names, flat(n.DisplayName()))
			}
		}
		slices.Sort(names)
		isDefault := ""
		if w.Default {
			isDefault = "default"
		}
		t.row(fmt.Sprint(w.Index), w.Name, isDefault, format.Plural(len(names), "machine"), cmp.Or(strings.Join(names, ", "), "none"), string(w.ID))
	}
	return t.print(out, "")
}

// findNetworks returns the IDs of networks that are given by their names or IDs.
func findNetworks(ctx context.Context, c *connection, names []string) (ids []protocol.NetworkID, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	r, err := call(ctx, c, protocol.NetworksList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		i := slices.IndexFunc(r.Networks, func(n protocol.Network) bool { return string(n.ID) == name || strings.EqualFold(n.Name, name) })
		if i < 0 {
			return nil, usageError("no network is named %q; to list networks: fairlead networks list", name)
		}
		ids = append(ids, r.Networks[i].ID)
	}
	return ids, nil
}
