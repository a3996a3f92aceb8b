package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func transfersCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "transfers", Short: "List and manage file transfers", Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(transfersListCommand(o), transfersWatchCommand(o),
		transferAct(o, "pause", "Pause a transfer", protocol.TransferPause),
		transferAct(o, "cancel", "Cancel a transfer: unfinished files are removed, finished files stay", protocol.TransferCancel),
		transferFollow(o, "resume", "Resume a paused transfer", protocol.TransferResume),
		transferFollow(o, "retry", "Retry a failed or cancelled transfer; finished parts are not sent again", protocol.TransferRetry),
		undoCommand(o), transfersForgetCommand(o))
	return cmd
}

func transfersListCommand(o *options) *cobra.Command {
	var p protocol.TransferListParams
	cmd := &cobra.Command{
		Use: "list", Short: "List active transfers, or with --history finished ones", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.Limit < 1 || p.Offset < 0 {
				return &exitError{code: exitUsage, err: errors.New("--limit must be at least 1 and --offset at least 0")}
			}
			return with(o, cmd, protocol.TransferList, p, func(out io.Writer, r protocol.TransferListResult) error {
				return printTransfers(out, p, r)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&p.History, "history", false, "list finished transfers, newest first")
	f.StringVar((*string)(&p.Node), "machine", "", "only transfers from or to this `machine`")
	f.IntVar(&p.Offset, "offset", 0, "number of transfers to skip")
	f.IntVar(&p.Limit, "limit", 100, "number of transfers to show")
	return cmd
}

func printTransfers(out io.Writer, p protocol.TransferListParams, r protocol.TransferListResult) error {
	if len(r.Transfers) == 0 {
		text := "No active transfers."
		if p.History {
			text = "No finished transfers."
		}
		_, err := fmt.Fprintln(out, text)
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range r.Transfers {
		fmt.Fprintf(w, "%s\t%s\t%s → %s\t%s\t%s\t%s\n",
			shortID(t.ID), t.State, flat(sources(t)), destination(t), progressText(t), flat(t.Route), flat(t.Error))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if more := r.Count - p.Offset - len(r.Transfers); more > 0 {
		fmt.Fprintf(out, "%d more: --offset %d\n", more, p.Offset+len(r.Transfers))
	}
	return nil
}

func transfersWatchCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Show a transfer's progress until it finishes", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				t, err := findTransfer(ctx, c, args[0])
				if err != nil {
					return err
				}
				return o.follow(ctx, cmd.OutOrStdout(), c, t, false)
			})
		},
	}
}

func transfersForgetCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "forget [ID…]",
		Short: "Remove finished transfers from the history (without IDs: all); transferred files stay, unfinished files are removed",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
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
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed %d.\n", r.Removed)
				}
				return err
			})
		},
	}
}

// transferAct makes a command on one transfer that is finished when the gateway has answered.
func transferAct(o *options, name, what string, m protocol.Method[protocol.TransferParams, protocol.Transfer]) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: what, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				t, err := findTransfer(ctx, c, args[0])
				if err != nil {
					return err
				}
				if t, err = call(ctx, c, m, protocol.TransferParams{ID: t.ID}); err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), t)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is %s.\n", shortID(t.ID), t.State)
				return err
			})
		},
	}
}

// transferFollow makes a command that continues a transfer. If one end of the transfer is a command
// line, this command runs until the transfer is over.
func transferFollow(o *options, name, what string, m protocol.Method[protocol.TransferParams, protocol.Transfer]) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: what, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withFiles(cmd.Context(), func(ctx context.Context, c *connection) error {
				t, err := findTransfer(ctx, c, args[0])
				if err != nil {
					return err
				}
				if t, err = call(ctx, c, m, protocol.TransferParams{ID: t.ID}); err != nil {
					return err
				}
				if isHere(t) {
					return o.follow(ctx, cmd.OutOrStdout(), c, t, true)
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), t)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is %s.\n", shortID(t.ID), t.State)
				return err
			})
		},
	}
}

// findTransfer finds a transfer by the beginning of its ID.
func findTransfer(ctx context.Context, c *connection, id string) (protocol.Transfer, error) {
	if id == "" {
		return protocol.Transfer{}, errNoID // every ID begins with it
	}
	var found []protocol.Transfer
	for _, history := range []bool{false, true} {
		r, err := call(ctx, c, protocol.TransferList, protocol.TransferListParams{History: history, Limit: 500})
		if err != nil {
			return protocol.Transfer{}, err
		}
		for _, t := range r.Transfers {
			if strings.HasPrefix(string(t.ID), id) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return call(ctx, c, protocol.TransferGet, protocol.TransferParams{ID: protocol.TransferID(id)})
	case 1:
		return found[0], nil
	}
	return protocol.Transfer{}, &exitError{code: exitUsage, err: fmt.Errorf("%d transfers begin with %s; type more of the ID", len(found), id)}
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
		s := bytesText(t.BytesDone)
		if t.Skipped > 0 {
			s += fmt.Sprintf(", %d skipped", t.Skipped)
		}
		return s + ", " + time.UnixMilli(t.EndedAt).Format(time.DateTime)
	case t.Bytes == 0:
		return ""
	}
	s := fmt.Sprintf("%d%% of %s", t.BytesDone*100/t.Bytes, bytesText(t.Bytes))
	if t.Speed > 0 {
		s += ", " + bytesText(t.Speed) + "/s"
	}
	return s
}
