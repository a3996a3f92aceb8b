package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead/gateway"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// terminalFlags are the flags of fairlead terminal.
type terminalFlags struct {
	list, watch                    bool
	attach, closing, user, workdir string
}

func terminalCommand(o *options) *cobra.Command {
	var f terminalFlags
	cmd := command("terminal [NODE [-- COMMAND…]]", "Open a terminal on a machine, or show one again", nil, func(cmd *cobra.Command, args []string) error {
		switch {
		case f.list:
			return o.onGateway(listTerminals)(cmd, args)
		case f.closing != "":
			return o.onGateway(func(ctx context.Context, c *connection, _ []string) error { return closeTerminal(ctx, c, f.closing) })(cmd, args)
		}
		return o.terminal(cmd, f, args)
	})
	cmd.Long = `Opens a terminal on a machine, with your login shell or a command. It goes on when you leave or lose the connection; --attach shows it
again, here or elsewhere. At the start of a line, ~. leaves, ~t takes over, ~g gives back, ~a and ~d allow and deny somebody
who asks to take over, and ~~ types ~. The running commands of the agent can be shown, too.`
	cmd.Example = `  fairlead terminal tower                  your shell on tower
  fairlead terminal tower -- htop          a command instead
  fairlead terminal --list                 all terminals, with those of others
  fairlead terminal --attach ID --watch    look without typing
  fairlead terminal --close ID             end its program`
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		n := 0
		for _, given := range []bool{f.list, f.attach != "", f.closing != ""} {
			if given {
				n++
			}
		}
		switch {
		case n > 1:
			return usageError("--list, --attach and --close exclude each other")
		case n == 1:
			return cobra.NoArgs(cmd, args)
		}
		if err := cobra.MinimumNArgs(1)(cmd, args); err != nil {
			return err
		}
		if len(args) > 1 && cmd.ArgsLenAtDash() != 1 {
			return usageError("write -- before the command: fairlead terminal %s -- %s", args[0], strings.Join(args[1:], " "))
		}
		return nil
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "list the terminals of all machines")
	cmd.Flags().StringVar(&f.attach, "attach", "", "show the terminal with this `ID`")
	cmd.Flags().StringVar(&f.closing, "close", "", "end the program of the terminal with this `ID`")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "only look; ~t takes over later")
	cmd.Flags().StringVar(&f.user, "user", "", "run it as this user `NAME` of the machine, where that is possible")
	cmd.Flags().StringVar(&f.workdir, "workdir", "", "start in this `FOLDER` instead of the home folder")
	return cmd
}

// terminal opens a terminal or shows one, until it ends or the person leaves.
func (o *options) terminal(cmd *cobra.Command, f terminalFlags, args []string) error {
	in, isTerminal := cmd.InOrStdin().(*os.File)
	isTerminal = isTerminal && term.IsTerminal(int(in.Fd()))
	if !isTerminal && !f.watch {
		return usageError("the input is no terminal: run this in one, or only look with --watch")
	}
	p := protocol.TerminalConnectParams{Watch: f.watch}
	p.Name, _ = os.Hostname()
	err := o.withGateway(cmd, func(ctx context.Context, c *connection) error {
		if f.attach != "" {
			t, err := findTerminal(ctx, c, f.attach)
			p.Node, p.ID = t.Node, t.ID
			return err
		}
		p.Node = protocol.NodeID(args[0])
		p.Open = &protocol.TerminalOpen{Command: commandLine(args[1:]), Username: f.user, Workdir: f.workdir}
		nodes, err := machinesOf(c).list(ctx)
		if m, ok := findMachine(nodes, args[0]); ok { // whether there is one with an ID, the gateway says
			p.Node = m.ID
		}
		return err
	})
	if err != nil {
		return err
	}
	_, to, err := o.route(client.Options{Connect: func() protocol.ConnectParams { return gateway.ClientParams("cli-" + protocol.NewID()) }})
	if err != nil {
		return err
	}
	v := &terminalView{to: to, params: p, out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr()}
	if isTerminal {
		v.in = in
	}
	return v.run(cmd.Context())
}

// commandLine returns the line for the shell of the machine: one word is a line already.
func commandLine(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return words.Join(args)
}

func listTerminals(ctx context.Context, c *connection, _ []string) error {
	r, err := call(ctx, c, protocol.TerminalList, protocol.TerminalListParams{})
	return show(c, r, err, printTerminals)
}

func printTerminals(out io.Writer, r protocol.TerminalListResult) error {
	var rows table
	for _, t := range r.Terminals {
		what := flat(t.Command)
		switch {
		case t.CommandID != "":
			what += " (the agent's)"
		case what == "":
			what = "shell"
		}
		if t.Title != "" {
			what += ": " + flat(t.Title)
		}
		state := "nobody types"
		switch {
		case t.EndedAt != 0:
			state = "ended " + timeText(t.EndedAt)
		case t.WatchOnly:
			state = "watch only"
		case t.Typist != "":
			state = flat(t.Typist) + " types"
		}
		rows.row(shortID(t.ID), string(t.Node), what, state, format.Plural(t.Viewers, "viewer"), "since "+timeText(t.StartedAt))
	}
	return rows.print(out, "No terminals.")
}

// findTerminal finds the terminal whose ID begins with a text.
func findTerminal(ctx context.Context, c *connection, id string) (found protocol.Terminal, err error) {
	r, err := call(ctx, c, protocol.TerminalList, protocol.TerminalListParams{})
	if err != nil {
		return found, err
	}
	n := 0
	for _, t := range r.Terminals {
		if strings.HasPrefix(string(t.ID), id) {
			found = t
			n++
		}
	}
	switch {
	case n == 0:
		return found, protocol.ErrNotFound.With(fmt.Sprintf("No terminal has the ID %.60q", id))
	case n > 1:
		return found, usageError("%d terminals begin with %s; type more of the ID", n, id)
	}
	return found, nil
}

func closeTerminal(ctx context.Context, c *connection, id string) error {
	t, err := findTerminal(ctx, c, id)
	if err != nil {
		return err
	}
	done, err := call(ctx, c, protocol.TerminalClose, protocol.TerminalParams{Node: t.Node, ID: t.ID})
	return show(c, done, err, func(out io.Writer, _ protocol.OK) error { return printf(out, "%s is closed.\n", shortID(t.ID)) })
}
