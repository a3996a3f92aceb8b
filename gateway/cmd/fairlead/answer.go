package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func approvalsListCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List pending approvals", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.ApprovalList, protocol.Empty{})
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				if o.json {
					return printJSON(out, r)
				}
				if len(r.Approvals) == 0 {
					fmt.Fprintln(out, "No pending approvals.")
					return nil
				}
				names := c.machineNames(ctx)
				for _, a := range r.Approvals {
					fmt.Fprintf(out, "%s  %s\n", a.ID, a.SessionKey)
					fmt.Fprint(out, questionBox(a, names[a.Node]))
				}
				return nil
			})
		},
	}
}

// approvalsAnswerCommand makes the command allow or deny. An approval may be named by the beginning
// of its ID.
func approvalsAnswerCommand(o *options, decision string) *cobra.Command {
	var scope, reason, args, until string
	var offers, access []int
	var same bool
	cmd := &cobra.Command{
		Use: decision + " ID", Args: cobra.ExactArgs(1),
		Short: map[string]string{protocol.DecisionAllow: "Allow a pending call", protocol.DecisionDeny: "Deny a pending call"}[decision],
		RunE: func(cmd *cobra.Command, ids []string) error {
			if args != "" && !json.Valid([]byte(args)) {
				return &exitError{code: exitUsage, err: errors.New("--args is not valid JSON")}
			}
			end, ok := protocol.RuleEndByKey(until)
			if !ok && until != "" {
				return &exitError{code: exitUsage, err: fmt.Errorf("--until must be 1h, today, 30d or never, not %s", until)}
			}
			ends := end.At(time.Now())
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				a, open, err := c.question(ctx, ids[0], same)
				if err != nil {
					return err
				}
				if same {
					return answerSame(ctx, c, cmd.OutOrStdout(), o.json, identicalApprovals(open, a), protocol.ApprovalAnswerAllParams{
						Decision: decision,
						Scope:    scope, Reason: reason, Offers: offers, Args: json.RawMessage(args), Access: access, Until: ends,
					})
				}
				r, err := call(ctx, c, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{
					ID: a.ID, Hash: a.Hash, Decision: decision,
					Scope: scope, Reason: reason, Offers: offers, Args: json.RawMessage(args), Access: access, Until: ends,
				})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				if !r.Won {
					return fmt.Errorf("too late: the approval was already %s by %s", r.Approval.State, r.Approval.AnsweredBy)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s.\n", protocol.Capital(r.Approval.State))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&same, "same", false, "also answer every other pending approval for exactly the same call")
	if decision == protocol.DecisionAllow {
		cmd.Flags().StringVar(&scope, "scope", protocol.ScopeOnce, "scope: once, session (this chat), folder, node (this machine) or always; the approval lists the scopes it offers")
		cmd.Flags().StringVar(&args, "args", "", "replace the call's arguments with this JSON; the changed call is checked again and runs once")
		cmd.Flags().StringVar(&until, "until", "", "when the new rules expire: 1h, today, 30d or never (default never)")
		cmd.Flags().IntSliceVar(&access, "open", nil, "numbers of the folders outside the workspace to allow for this call, from 0; the approval lists them")
		cmd.Flags().IntSliceVar(&offers, "offer", nil, "numbers of the suggested rules to create, from 0 (default: those that allow exactly this call)")
	} else {
		cmd.Flags().StringVar(&reason, "reason", "", "reason, shown to the agent")
	}
	return cmd
}

// question finds a pending approval as [questionNamed] does, among all that are pending.
func (c *connection) question(ctx context.Context, id string, same bool) (a protocol.Approval, open []protocol.Approval, err error) {
	list, err := call(ctx, c, protocol.ApprovalList, protocol.Empty{})
	if err == nil {
		a, err = questionNamed(list.Approvals, id, same)
	}
	return a, list.Approvals, err
}

// questionNamed returns the pending approval whose ID begins with id. With same, several may match
// if they ask the same.
func questionNamed(open []protocol.Approval, id string, same bool) (a protocol.Approval, err error) {
	if id == "" {
		return a, errNoID // every ID begins with it
	}
	var found []protocol.Approval
	for _, q := range open {
		if strings.HasPrefix(string(q.ID), id) {
			found = append(found, q)
		}
	}
	switch {
	case len(found) == 0:
		return a, fmt.Errorf("no pending approval has the ID %s; to list them: fairlead approvals list", id)
	case len(found) > 1 && !(same && len(identicalApprovals(found, found[0])) == len(found)):
		return a, &exitError{code: exitUsage, err: fmt.Errorf("%d approvals begin with %s; type more of the ID", len(found), id)}
	}
	return found[0], nil
}

// identicalApprovals returns the pending approvals that ask exactly the same as a, with a first.
func identicalApprovals(open []protocol.Approval, a protocol.Approval) []protocol.Approval {
	list := []protocol.Approval{a}
	for _, q := range open {
		if q.ID != a.ID && a.SameAs(q) {
			list = append(list, q)
		}
	}
	return list
}

// answerSame gives several approvals the same answer and prints how many it settled.
func answerSame(ctx context.Context, c *connection, out io.Writer, asJSON bool, list []protocol.Approval, p protocol.ApprovalAnswerAllParams) error {
	for _, q := range list {
		p.Questions = append(p.Questions, protocol.ShownQuestion{ID: q.ID, Hash: q.Hash})
	}
	r, err := call(ctx, c, protocol.ApprovalAll, p)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(out, r)
	}
	fmt.Fprintf(out, "Answered %d of %d.\n", r.Won(), len(list))
	for _, o := range r.Outcomes {
		switch {
		case o.Error != nil:
			fmt.Fprintf(out, "  %s  %s\n", o.ID, clean(o.Error.Message))
		case !o.Won:
			fmt.Fprintf(out, "  %s  already %s by %s\n", o.ID, o.Approval.State, clean(o.Approval.AnsweredBy))
		}
	}
	if r.Won() == 0 {
		return errors.New("none of them was still pending")
	}
	return nil
}

// approvalsUndoCommand makes the command that revokes the rules that an answer saved.
func approvalsUndoCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID", Short: "Undo the rules and grants that an answer created; the audit log shows the approval's ID", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.ApprovalUndo, protocol.ApprovalParams{ID: protocol.ApprovalID(args[0])}, func(out io.Writer, r protocol.ApprovalUndoResult) error {
				_, err := fmt.Fprintf(out, "Removed %d %s and %d %s for its chat.\n", r.Rules, plural(r.Rules, "rule"), r.Grants, plural(r.Grants, "grant"))
				return err
			})
		},
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
