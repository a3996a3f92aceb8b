package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/forward"
)

func forwardCommand(o *options) *cobra.Command {
	var list bool
	var closing string
	cmd := command("forward NODE:PORT [LOCAL-PORT]", "Open a local port that leads to a port of a machine", nil, func(cmd *cobra.Command, args []string) error {
		switch {
		case list:
			return onMethod(o, protocol.ForwardList, nil, printForwards)(cmd, args)
		case closing != "":
			return o.onGateway(func(ctx context.Context, c *connection, _ []string) error { return closeForward(ctx, c, closing) })(cmd, args)
		}
		return o.forward(cmd, args)
	})
	cmd.Long = `Opens a local port of this computer that leads to a port of a machine, like ssh -L, until you press Ctrl C. NODE:HOST:PORT leads to a port
of another computer that the machine can reach; its person allows that once, at the machine. The local port is that of the machine if it
is free, or LOCAL-PORT; 0 chooses a free one. Only programs on this computer can use it.`
	cmd.Example = `  fairlead forward tower:5432              port 5432 of tower at 127.0.0.1:5432
  fairlead forward tower:nas.lan:80 8080   port 80 of nas.lan, as tower reaches it, at 127.0.0.1:8080
  fairlead forward --list
  fairlead forward --close ID`
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if list && closing != "" {
			return usageError("--list and --close exclude each other")
		}
		if list || closing != "" {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.RangeArgs(1, 2)(cmd, args)
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the open forwards of all clients")
	cmd.Flags().StringVar(&closing, "close", "", "close the forward with this `ID`, and its connections")
	return cmd
}

// forward runs a forward until it is interrupted or closed.
func (o *options) forward(cmd *cobra.Command, args []string) error {
	node, target, err := protocol.ParseForward(args[0])
	if err != nil {
		return usageError("%w", err)
	}
	_, port, err := protocol.SplitTarget(target)
	if err != nil {
		return usageError("%w", err)
	}
	if len(args) == 2 {
		n, err := strconv.ParseUint(args[1], 10, 16)
		if err != nil {
			return usageError("%q is not a local port: a number from 0 to 65535", args[1])
		}
		port = uint16(n)
	}
	// A name stands for its machine. Whether there is one with an ID, the gateway says.
	_ = o.withGateway(cmd, func(ctx context.Context, c *connection) error {
		nodes, err := machinesOf(c).list(ctx)
		if m, ok := findMachine(nodes, string(node)); ok {
			node = m.ID
		}
		return err
	})
	_, to, err := o.route(client.Options{Connect: func() protocol.ConnectParams { return gateway.ClientParams("cli-" + protocol.NewID()) }})
	if err != nil {
		return err
	}
	out, notes := cmd.OutOrStdout(), cmd.ErrOrStderr()
	l, err := forward.Listen(forward.Options{
		Client: to, Node: node, Target: target, Port: port,
		OnOpen: func(f protocol.Forward) {
			if o.json {
				printJSON(out, f)
				return
			}
			fmt.Fprintf(out, "%s leads to %s on %s. Press Ctrl C to close it.\n", f.Listen, f.Target, f.Node)
		},
		OnLost:  func(err error) { fmt.Fprintf(notes, "%v; trying again\n", err) },
		OnError: func(err error) { fmt.Fprintln(notes, err) },
	})
	if err != nil {
		return err
	}
	err = l.Run(cmd.Context())
	if errors.Is(err, forward.ErrClosed) {
		fmt.Fprintln(notes, err)
		return nil
	}
	return err
}

func printForwards(out io.Writer, r protocol.ForwardListResult) error {
	var rows table
	for _, f := range r.Forwards {
		used := "never used"
		if f.LastUsedAt > 0 {
			used = "last used " + timeText(f.LastUsedAt)
		}
		from := flat(f.By)
		if f.Address != "" {
			from += " at " + f.Address
		}
		rows.row(shortID(f.ID), flat(f.Listen)+" → "+string(f.Node)+":"+f.Target, from, format.Plural(f.Connections, "connection"),
			fmt.Sprintf("%s sent, %s received", format.Size(f.Sent), format.Size(f.Received)), "since "+timeText(f.Since), used)
	}
	return rows.print(out, "No open forwards.")
}

// closeForward closes the forward whose ID begins with a text.
func closeForward(ctx context.Context, c *connection, id string) error {
	r, err := call(ctx, c, protocol.ForwardList, protocol.Empty{})
	if err != nil {
		return err
	}
	var found []protocol.Forward
	for _, f := range r.Forwards {
		if strings.HasPrefix(string(f.ID), id) {
			found = append(found, f)
		}
	}
	if len(found) > 1 {
		return usageError("%d forwards begin with %s; type more of the ID", len(found), id)
	}
	full := protocol.ForwardID(id)
	if len(found) == 1 {
		full = found[0].ID
	}
	done, err := call(ctx, c, protocol.ForwardClose, protocol.ForwardParams{ID: full})
	return show(c, done, err, func(out io.Writer, _ protocol.OK) error { return printf(out, "%s is closed.\n", shortID(full)) })
}
