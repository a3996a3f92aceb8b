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
		Use: "list", Short: "List the questions that wait for you", Args: cobra.NoArgs,
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
					fmt.Fprintln(out, "Nothing waits for you.")
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
		Short: map[string]string{protocol.DecisionAllow: "Allow what a question asks about", protocol.DecisionDeny: "Deny what a question asks about"}[decision],
		RunE: func(cmd *cobra.Command, ids []string) error {
			if args != "" && !json.Valid([]byte(args)) {
				return &exitError{code: exitUsage, err: errors.New("--args is not JSON")}
			}
			end, ok := protocol.RuleEndByKey(until)
			if !ok && until != "" {
				return &exitError{code: exitUsage, err: fmt.Errorf("--until is 1h, today, 30d or never, not %s", until)}
			}
			ends := end.At(time.Now())
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				a, open, err := c.question(ctx, ids[0], same)
				if err != nil {
					return err
				}
				if same {
					return answerSame(ctx, c, cmd.OutOrStdout(), o.json, alike(open, a), protocol.ApprovalAnswerAllParams{
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
					return fmt.Errorf("too late: the question was %s by %s", r.Approval.State, r.Approval.AnsweredBy)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s.\n", protocol.Capital(r.Approval.State))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&same, "same", false, "answer every open question that asks exactly the same, too")
	if decision == protocol.DecisionAllow {
		cmd.Flags().StringVar(&scope, "scope", protocol.ScopeOnce, "for what: once, session (this chat), folder, node (this machine) or always; the question says which it offers")
		cmd.Flags().StringVar(&args, "args", "", "other arguments for the call, as JSON; it is checked anew and runs once")
		cmd.Flags().StringVar(&until, "until", "", "when the rules that are made end: 1h, today, 30d or never (default never)")
		cmd.Flags().IntSliceVar(&access, "open", nil, "numbers of the folders outside to open for this call, from 0; the question names them")
		cmd.Flags().IntSliceVar(&offers, "offer", nil, "numbers of the offered rules to make, from 0; default those that allow exactly what was shown")
	} else {
		cmd.Flags().StringVar(&reason, "reason", "", "why; the agent is told")
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
		return a, fmt.Errorf("no open question has the id %s; fairlead approvals list shows them", id)
	case len(found) > 1 && !(same && len(alike(found, found[0])) == len(found)):
		return a, &exitError{code: exitUsage, err: fmt.Errorf("%d questions begin with %s; give more of the id", len(found), id)}
	}
	return found[0], nil
}

// alike returns the pending approvals that ask exactly the same as a, with a first.
func alike(open []protocol.Approval, a protocol.Approval) []protocol.Approval {
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
	fmt.Fprintf(out, "Answered: %d of %d.\n", r.Won(), len(list))
	for _, o := range r.Outcomes {
		switch {
		case o.Error != nil:
			fmt.Fprintf(out, "  %s  %s\n", o.ID, clean(o.Error.Message))
		case !o.Won:
			fmt.Fprintf(out, "  %s  was %s by %s\n", o.ID, o.Approval.State, clean(o.Approval.AnsweredBy))
		}
	}
	if r.Won() == 0 {
		return errors.New("none of them was open any more")
	}
	return nil
}

// approvalsUndoCommand makes the command that revokes the rules that an answer saved.
func approvalsUndoCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID", Short: "Take back the rules and permissions that the answer to a question gave; audit names the question", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(o, cmd, protocol.ApprovalUndo, protocol.ApprovalParams{ID: protocol.ApprovalID(args[0])}, func(out io.Writer, r protocol.ApprovalUndoResult) error {
				_, err := fmt.Fprintf(out, "Taken back: %d %s, %d %s for its chat.\n", r.Rules, plural(r.Rules, "rule"), r.Grants, plural(r.Grants, "permission"))
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
