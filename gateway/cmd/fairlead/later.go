package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// errPostponed means that the person postpones an approval.
var errPostponed = errors.New("not now")

// approvalsLaterCommand makes the command that postpones an approval, as Not now in the windows
// does.
func approvalsLaterCommand(o *options) *cobra.Command {
	var wait time.Duration
	var same, now bool
	cmd := &cobra.Command{
		Use: "later ID", Args: cobra.ExactArgs(1), Short: "Postpone an approval in every window and terminal",
		Long: `Postpones a pending approval, like "Not now" in a window. It comes back when the time is up, can still be answered, and still expires
as before. ID can be the first characters of an ID.`,
		Example: "  fairlead approvals later 3f --for 1h\n  fairlead approvals later 3f --now",
		RunE: func(cmd *cobra.Command, ids []string) error {
			limit := time.Duration(protocol.MaxSnooze) * time.Millisecond
			if wait < time.Second || wait > limit {
				return &exitError{code: exitUsage, err: fmt.Errorf("--for must be between 1s and %dh", limit/time.Hour)}
			}
			if now {
				wait = 0
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				a, open, err := c.question(ctx, ids[0], same)
				if err != nil {
					return err
				}
				all := []protocol.Approval{a}
				if same {
					all = identicalApprovals(open, a)
				}
				res, err := postpone(ctx, c.Client, all, wait)
				switch {
				case err != nil:
					return err
				case o.json:
					return printJSON(cmd.OutOrStdout(), res)
				case now:
					fmt.Fprintf(cmd.OutOrStdout(), "Brought back: %d.\n", len(all))
				default:
					fmt.Fprintf(cmd.OutOrStdout(), "Postponed until %s: %d.\n", time.Now().Add(wait).Format("15:04"), len(all))
				}
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&wait, "for", protocol.SnoozeFor, "how long to postpone, at most 24h")
	cmd.Flags().BoolVar(&now, "now", false, "bring it back")
	cmd.Flags().BoolVar(&same, "same", false, "also postpone every other pending approval for exactly the same call")
	return cmd
}

// postpone postpones approvals for a while; 0 ends the delay.
func postpone(ctx context.Context, c *client.Client, list []protocol.Approval, wait time.Duration) (protocol.OK, error) {
	p := protocol.ApprovalSnoozeParams{For: wait.Milliseconds()}
	for _, a := range list {
		p.IDs = append(p.IDs, a.ID)
	}
	return client.Call(ctx, c, protocol.ApprovalSnooze, p)
}

// postponeApproval postpones an approval that this terminal asked, and those that would have got
// the same answer.
func (ch *chat) postponeApproval(ctx context.Context, a protocol.Approval) error {
	list := ch.sameAnswer
	if len(list) == 0 {
		list = []protocol.Approval{a}
	}
	for _, q := range list {
		setEntry[protocol.ApprovalID, any](&ch.term.asked, q.ID, nil)
	}
	_, err := postpone(ctx, ch.c.Client, list, protocol.SnoozeFor)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil // it has been settled: its change follows
	}
	return err
}

// notePostponed prints once that an approval is postponed; it is asked again when the delay ends.
func (t *terminal) notePostponed(a protocol.Approval) {
	setEntry[protocol.ApprovalID, any](&t.asked, a.ID, nil)
	setEntry(&t.later, a.ID, a.Later)
	t.note("Postponed until " + time.UnixMilli(a.Later).Format("15:04") + ". You can still answer it: fairlead approvals allow or deny " + string(a.ID) + ".")
}

// hasReturned reports whether a postponed approval must be asked again, and records one that is
// postponed now.
func (t *terminal) hasReturned(a protocol.Approval) bool {
	was, late := t.later[a.ID]
	switch {
	case late && a.Later == 0:
		delete(t.later, a.ID)
		delete(t.asked, a.ID)
		return true
	case a.Later != 0 && a.Later != was && t.interactive() && t.approve == "":
		t.notePostponed(a)
	}
	return false
}
