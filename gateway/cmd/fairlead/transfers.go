package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func transfersCommand(o *options) *cobra.Command {
	watch := o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		t, err := findTransfer(ctx, c, args[0])
		if err != nil {
			return err
		}
		return follow(ctx, c, t, false)
	})
	undo := transferCommand("undo", "Restore the files that a transfer replaced; new files stay", protocol.TransferUndo, o.withFiles)
	undo.Long = `Restores the files that a transfer replaced, and moves the transferred versions to the trash. A file that was changed after the transfer is not
touched. Replaced files are kept for 30 days, at most 10 GB of them per folder.`
	return group("transfers", "List and manage file transfers", transfersListCommand(o),
		command("watch ID", "Show a transfer's progress until it finishes", cobra.ExactArgs(1), watch),
		transferCommand("pause", "Pause a transfer", protocol.TransferPause, o.withGateway),
		transferCommand("cancel", "Cancel a transfer: unfinished files are removed, finished files stay", protocol.TransferCancel, o.withGateway),
		transferCommand("resume", "Resume a paused transfer", protocol.TransferResume, o.withFiles),
		transferCommand("retry", "Retry a failed or cancelled transfer; finished parts are not sent again", protocol.TransferRetry, o.withFiles),
		undo,
		command("forget [ID…]", "Remove finished transfers from the history (without IDs: all); transferred files stay, unfinished files are removed", nil,
			o.onGateway(forgetTransfers)))
}

func transfersListCommand(o *options) *cobra.Command {
	var p protocol.TransferListParams
	params := func([]string) (protocol.TransferListParams, error) {
		if p.Limit < 1 || p.Offset < 0 {
			return p, usageError("--limit must be at least 1 and --offset at least 0")
		}
		return p, nil
	}
	cmd := command("list", "List active transfers, or with --history finished ones", cobra.NoArgs,
		onMethod(o, protocol.TransferList, params, func(out io.Writer, r protocol.TransferListResult) error { return printTransfers(out, p, r) }))
	f := cmd.Flags()
	f.BoolVar(&p.History, "history", false, "list finished transfers, newest first")
	f.StringVar((*string)(&p.Node), "machine", "", "only transfers from or to this `machine`")
	f.IntVar(&p.Offset, "offset", 0, "number of transfers to skip")
	f.IntVar(&p.Limit, "limit", 100, "number of transfers to show")
	return cmd
}

func printTransfers(out io.Writer, p protocol.TransferListParams, r protocol.TransferListResult) error {
	var rows table
	for _, t := range r.Transfers {
		rows.row(shortID(t.ID), t.State, flat(sources(t))+" → "+destination(t), progressText(t), flat(t.Route), flat(t.Error))
	}
	none := "No active transfers."
	if p.History {
		none = "No finished transfers."
	}
	err := rows.print(out, none)
	if more := r.Count - p.Offset - len(r.Transfers); more > 0 && len(rows) > 0 {
		fmt.Fprintf(out, "%d more: --offset %d\n", more, p.Offset+len(r.Transfers))
	}
	return err
}

func forgetTransfers(ctx context.Context, c *connection, args []string) error {
	var p protocol.TransferForgetParams
	for _, a := range args {
		t, err := findTransfer(ctx, c, a)
		if err != nil {
			return err
		}
		p.IDs = append(p.IDs, t.ID)
	}
	r, err := call(ctx, c, protocol.TransferForget, p)
	if err == nil {
		_, err = fmt.Fprintf(c.out, "Removed %d.\n", r.Removed)
	}
	return err
}

// transferCommand makes a command that calls a method on one transfer. connect is withFiles for a
// method that may need files of this computer; if it continues a transfer with a command line at one
// end, the command runs until the transfer is over.
func transferCommand(
	name, what string, m protocol.Method[protocol.TransferParams, protocol.Transfer],
	connect func(*cobra.Command, func(context.Context, *connection) error) error,
) *cobra.Command {
	return command(name+" ID", what, cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return connect(cmd, func(ctx context.Context, c *connection) error {
			t, err := findTransfer(ctx, c, args[0])
			if err != nil {
				return err
			}
			undone := t.Undone
			t, err = call(ctx, c, m, protocol.TransferParams{ID: t.ID})
			if err == nil && isHere(t) && (name == "resume" || name == "retry") {
				return follow(ctx, c, t, true)
			}
			return show(c, t, err, func(out io.Writer, t protocol.Transfer) error {
				if name == "undo" {
					return printUndone(out, t, t.Undone-undone)
				}
				return printf(out, "%s is %s.\n", shortID(t.ID), t.State)
			})
		})
	})
}

// findTransfer finds a transfer by the beginning of its ID.
func findTransfer(ctx context.Context, c *connection, id string) (protocol.Transfer, error) {
	if id == "" {
		return protocol.Transfer{}, errNoID // every ID begins with it
	}
	var matches []protocol.Transfer
	for _, history := range []bool{false, true} {
		r, err := call(ctx, c, protocol.TransferList, protocol.TransferListParams{History: history, Limit: 500})
		if err != nil {
			return protocol.Transfer{}, err
		}
		for _, t := range r.Transfers {
			if strings.HasPrefix(string(t.ID), id) {
				matches = append(matches, t)
			}
		}
	}
	switch len(matches) {
	case 0:
		return call(ctx, c, protocol.TransferGet, protocol.TransferParams{ID: protocol.TransferID(id)})
	case 1:
		return matches[0], nil
	}
	return protocol.Transfer{}, usageError("%d transfers begin with %s; type more of the ID", len(matches), id)
}

func sources(t protocol.Transfer) string {
	s := t.Sources[0]
	if n := len(t.Sources) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// destination returns where a transfer goes, with the written name if it differs.
func destination(t protocol.Transfer) string {
	if name := newName(t); name != "" {
		return flat(t.Destination + " as " + name)
	}
	return flat(t.Destination)
}

func progressText(t protocol.Transfer) string {
	switch {
	case t.State == protocol.TransferDone:
		s := format.Size(t.BytesDone)
		if t.Skipped > 0 {
			s += fmt.Sprintf(", %d skipped", t.Skipped)
		}
		return s + ", " + timeText(t.EndedAt)
	case t.Bytes == 0:
		return ""
	}
	s := fmt.Sprintf("%d%% of %s", t.BytesDone*100/t.Bytes, format.Size(t.Bytes))
	if t.Speed > 0 {
		s += ", " + format.Size(t.Speed) + "/s"
	}
	return s
}

func printUndone(out io.Writer, t protocol.Transfer, back int) error {
	fmt.Fprintf(out, "%s restored.\n", format.Plural(back, "file"))
	for _, p := range t.Problems {
		fmt.Fprintf(out, "%s: %s\n", flat(p.Path), flat(p.Text))
	}
	if len(t.Problems) > 0 {
		return fmt.Errorf("%d files could not be restored", len(t.Problems))
	}
	return nil
}
