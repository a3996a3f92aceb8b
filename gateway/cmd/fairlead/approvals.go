package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/display"
)

func approvalsCommand(o *options) *cobra.Command {
	undo := func(args []string) (protocol.QuestionParams, error) {
		return protocol.QuestionParams{ID: protocol.QuestionID(args[0])}, nil
	}
	return group("approvals", "Answer pending approvals and manage rules",
		command("list", "List pending approvals", cobra.NoArgs, o.onGateway(listApprovals)), watchCommand(o),
		approvalsAnswerCommand(o, protocol.DecisionAllow, "Allow a pending call"), approvalsAnswerCommand(o, protocol.DecisionDeny, "Deny a pending call"),
		approvalsLaterCommand(o),
		command("undo ID", "Undo the rules and grants that an answer created; the audit log shows the approval's ID", cobra.ExactArgs(1),
			onMethod(o, protocol.QuestionUndo, undo, func(out io.Writer, r protocol.QuestionUndoResult) error {
				return printf(out, "Removed %s and %s for its chat.\n", format.Plural(r.Rules, "rule"), format.Plural(r.Grants, "grant"))
			})),
		approvalsRulesCommand(o), approvalsExportCommand(o), approvalsImportCommand(o), auditCommand(o), approvalsTestCommand(o))
}

func listApprovals(ctx context.Context, c *connection, _ []string) error {
	list, err := questionsOf(c).calls(ctx)
	return show(c, protocol.QuestionListResult{Questions: list}, err, func(out io.Writer, r protocol.QuestionListResult) error {
		if len(r.Questions) == 0 {
			fmt.Fprintln(out, "No pending approvals.")
			return nil
		}
		names := machinesOf(c).names(ctx)
		for _, a := range r.Questions {
			fmt.Fprintf(out, "%s  %s\n%s", a.ID, a.SessionKey, questionBox(a, names[a.Node]))
		}
		return nil
	})
}

// calls returns the pending questions about calls.
func (s questions) calls(ctx context.Context) ([]protocol.Question, error) {
	r, err := call(ctx, s.c, protocol.QuestionList, protocol.Empty{})
	list := slices.DeleteFunc(r.Questions, func(q protocol.Question) bool { return !q.IsOfCall() })
	return append([]protocol.Question{}, list...), err
}

// approvalsAnswerCommand makes the command allow or deny. ID may be the beginning of an ID.
func approvalsAnswerCommand(o *options, decision, short string) *cobra.Command {
	var args, until string
	var same bool
	answer := protocol.QuestionAnswerParams{Decision: decision}
	cmd := command(decision+" ID", short, cobra.ExactArgs(1), func(cmd *cobra.Command, ids []string) error {
		if args != "" && !json.Valid([]byte(args)) {
			return usageError("--args is not valid JSON")
		}
		end, ok := display.RuleEndByKey(until)
		if !ok && until != "" {
			return usageError("--until must be 1h, today, 30d or never, not %s", until)
		}
		answer.Args, answer.Until = json.RawMessage(args), end.At(time.Now())
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			list, err := questionsOf(c).approvals(ctx, ids[0], same)
			if err != nil {
				return err
			}
			if same {
				return answerSame(ctx, c, c.out, c.json, list, answer)
			}
			answer.ID, answer.Hash = list[0].ID, list[0].Hash
			return showCall(ctx, c, protocol.QuestionAnswer, answer, func(out io.Writer, r protocol.QuestionAnswerResult) error {
				if !r.Won {
					return fmt.Errorf("too late: the approval was already %s by %s", r.Question.State, r.Question.AnsweredBy)
				}
				return printf(out, "%s.\n", format.Capital(r.Question.State))
			})
		})
	})
	f := cmd.Flags()
	f.BoolVar(&same, "same", false, "also answer every other pending approval for exactly the same call")
	if decision == protocol.DecisionDeny {
		f.StringVar(&answer.Reason, "reason", "", "reason, shown to the agent")
		return cmd
	}
	f.StringVar(&answer.Scope, "scope", protocol.ScopeOnce, "scope: once, session (this chat), folder, node (this machine) or always; the approval lists the scopes it offers")
	f.StringVar(&args, "args", "", "replace the call's arguments with this JSON; the changed call is checked again and runs once")
	f.StringVar(&until, "until", "", "when the new rules expire: 1h, today, 30d or never (default never)")
	f.IntSliceVar(&answer.Access, "open", nil, "numbers of the folders outside the workspace to allow for this call, from 0; the approval lists them")
	f.IntSliceVar(&answer.Offers, "offer", nil, "numbers of the suggested rules to create, from 0 (default: those that allow exactly this call)")
	return cmd
}

// approvals returns the pending approval that id names, and with same all that ask the same.
func (s questions) approvals(ctx context.Context, id string, same bool) ([]protocol.Question, error) {
	list, err := s.calls(ctx)
	if err != nil {
		return nil, err
	}
	a, err := questionNamed(list, id, same)
	if err != nil || !same {
		return []protocol.Question{a}, err
	}
	return identicalApprovals(list, a), nil
}

// questionNamed returns the approval whose ID begins with id; with same, several may ask the same.
func questionNamed(open []protocol.Question, id string, same bool) (a protocol.Question, err error) {
	if id == "" {
		return a, errNoID // every ID begins with it
	}
	var matches []protocol.Question
	for _, q := range open {
		if strings.HasPrefix(string(q.ID), id) {
			matches = append(matches, q)
		}
	}
	switch {
	case len(matches) == 0:
		return a, fmt.Errorf("no pending approval has the ID %s; to list them: fairlead approvals list", id)
	case len(matches) > 1 && !(same && len(identicalApprovals(matches, matches[0])) == len(matches)):
		return a, usageError("%d approvals begin with %s; type more of the ID", len(matches), id)
	}
	return matches[0], nil
}

// identicalApprovals returns the pending approvals that ask exactly the same as a, with a first.
func identicalApprovals(open []protocol.Question, a protocol.Question) []protocol.Question {
	list := []protocol.Question{a}
	for _, q := range open {
		if q.ID != a.ID && a.SameAs(q) {
			list = append(list, q)
		}
	}
	return list
}

// answerSame gives several approvals the same answer and prints how many it settled.
func answerSame(ctx context.Context, c *connection, out io.Writer, asJSON bool, list []protocol.Question, a protocol.QuestionAnswerParams) error {
	p := protocol.QuestionAnswerAllParams{
		Decision: a.Decision, Scope: a.Scope, Reason: a.Reason, Offers: a.Offers, Args: a.Args, Access: a.Access, Until: a.Until,
	}
	for _, q := range list {
		p.Questions = append(p.Questions, protocol.ShownQuestion{ID: q.ID, Hash: q.Hash})
	}
	r, err := call(ctx, c, protocol.QuestionAll, p)
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
			fmt.Fprintf(out, "  %s  already %s by %s\n", o.ID, o.Question.State, clean(o.Question.AnsweredBy))
		}
	}
	if r.Won() == 0 {
		return errors.New("none of them was still pending")
	}
	return nil
}

// approvalsLaterCommand makes the command that postpones an approval, like "Not now" in a window.
func approvalsLaterCommand(o *options) *cobra.Command {
	var wait time.Duration
	var same, now bool
	cmd := command("later ID", "Postpone an approval in every window and terminal", cobra.ExactArgs(1), func(cmd *cobra.Command, ids []string) error {
		limit := time.Duration(protocol.MaxSnooze) * time.Millisecond
		if wait < time.Second || wait > limit {
			return usageError("--for must be between 1s and %dh", limit/time.Hour)
		}
		if now {
			wait = 0
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			list, err := questionsOf(c).approvals(ctx, ids[0], same)
			if err != nil {
				return err
			}
			res, err := postpone(ctx, c.Client, list, wait)
			return show(c, res, err, func(out io.Writer, _ protocol.OK) error {
				if now {
					return printf(out, "Brought back: %d.\n", len(list))
				}
				return printf(out, "Postponed until %s: %d.\n", time.Now().Add(wait).Format("15:04"), len(list))
			})
		})
	})
	cmd.Long = `Postpones a pending approval, like "Not now" in a window. It comes back when the time is up, can still be answered, and still expires
as before. ID can be the first characters of an ID.`
	cmd.Example = "  fairlead approvals later 3f --for 1h\n  fairlead approvals later 3f --now"
	cmd.Flags().DurationVar(&wait, "for", protocol.SnoozeFor, "how long to postpone, at most 24h")
	cmd.Flags().BoolVar(&now, "now", false, "bring it back")
	cmd.Flags().BoolVar(&same, "same", false, "also postpone every other pending approval for exactly the same call")
	return cmd
}

// postpone postpones approvals for a while; 0 ends the delay.
func postpone(ctx context.Context, c *client.Client, list []protocol.Question, wait time.Duration) (protocol.OK, error) {
	p := protocol.QuestionSnoozeParams{For: wait.Milliseconds()}
	for _, a := range list {
		p.IDs = append(p.IDs, a.ID)
	}
	return client.Call(ctx, c, protocol.QuestionSnooze, p)
}
