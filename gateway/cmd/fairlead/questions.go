package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// openQuestion is anything that waits for the person, with the command that answers it.
type openQuestion struct {
	ID     string `json:"id"`
	Text   string `json:"text"` // one line
	Answer string `json:"answer"`
}

func (q openQuestion) print(out io.Writer) error {
	return printf(out, "%s\n  to answer: %s\n", flat(q.Text), q.Answer)
}

func questionsCommand(o *options) *cobra.Command {
	list := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		open, err := c.openQuestions(ctx)
		return show(c, open, err, func(out io.Writer, open []openQuestion) error {
			if len(open) == 0 {
				return printf(out, "Nothing waits for you.\n")
			}
			for _, q := range open {
				if err := q.print(out); err != nil {
					return err
				}
			}
			return nil
		})
	})
	cmd := command("questions", "List everything that waits for you, and answer the questions of MCP servers", cobra.NoArgs, list)
	answer := command("answer ID [NAME=VALUE ...]", "Answer a question of an MCP server; without values, you are asked for them", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			q, err := c.serverQuestion(ctx, args[0])
			if err != nil {
				return err
			}
			values, err := fieldValues(q, args[1:])
			if len(args) == 1 && len(q.Fields) > 0 {
				t := &terminal{out: c.out, err: c.err, in: newLines(c.in)}
				if !t.interactive() {
					return usageError("give the values as NAME=VALUE:\n%s", fieldList(q))
				}
				values, err = t.askFields(ctx, q)
			}
			if errors.Is(err, errDeclined) {
				return declineQuestion(ctx, c, q)
			}
			if err != nil {
				return err
			}
			p := protocol.ServerAnswerParams{ID: q.ID, Action: "accept", Values: values}
			return showCall(ctx, c, protocol.ServerAnswer, p, func(out io.Writer, _ protocol.OK) error { return printf(out, "Answered.\n") })
		}))
	answer.Example = "  fairlead questions answer 3f name=Anna colors=red,green"
	cmd.AddCommand(answer, command("decline ID", "Decline a question of an MCP server", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			q, err := c.serverQuestion(ctx, args[0])
			if err != nil {
				return err
			}
			return declineQuestion(ctx, c, q)
		})))
	cmd.Long = "Lists approvals, devices that want to pair, apps that want to connect, and questions of MCP servers, with the command that answers each."
	return cmd
}

func declineQuestion(ctx context.Context, c *connection, q protocol.ServerQuestion) error {
	p := protocol.ServerAnswerParams{ID: q.ID, Action: "decline"}
	return showCall(ctx, c, protocol.ServerAnswer, p, func(out io.Writer, _ protocol.OK) error { return printf(out, "Declined.\n") })
}

// watchQuestions calls report for each question once, until ctx ends. It reports those that are open
// at first, too.
func watchQuestions(ctx context.Context, c *connection, report func(openQuestion) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reported := make(map[string]bool)
	look := func() {
		open, err := c.openQuestions(ctx)
		for _, q := range open {
			if err == nil && !reported[q.ID] {
				reported[q.ID] = true
				err = report(q)
			}
		}
		if err != nil && !errors.Is(err, protocol.ErrUnavailable) { // after a reconnect, it looks again
			cancel(err)
		}
	}
	err := c.Feed(ctx, func(protocol.FeedSnapshot) { look() }, func(change protocol.Change) {
		switch change.Kind {
		case protocol.ChangeQuestion, protocol.ChangeDevices, protocol.ChangeApps, protocol.ChangeServerQuestions:
			look()
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// noteQuestions prints the questions of MCP servers that open until stop is called: a call may wait
// for an answer.
func (c *connection) noteQuestions(ctx context.Context) (stop func()) {
	if !c.offers(protocol.FeedSubscribe.Name) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg crash.Group
	wg.Go(func() {
		noted := make(map[string]bool)
		c.Feed(ctx, func(protocol.FeedSnapshot) {}, func(change protocol.Change) {
			if change.Kind != protocol.ChangeServerQuestions {
				return
			}
			r, _ := call(ctx, c, protocol.ServerQuestions, protocol.Empty{}) // without an answer there is nothing to note
			for _, q := range r.Questions {
				if !noted[q.ID] {
					noted[q.ID] = true
					serverQuestion(q).print(c.err)
				}
			}
		})
	})
	return func() { cancel(); wg.Wait() }
}

// watchCommand makes the command that prints a line for each question that opens.
func watchCommand(o *options) *cobra.Command {
	cmd := command("watch", "Print a line whenever something waits for you, until you press Ctrl+C", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			return watchQuestions(ctx, c, func(q openQuestion) error {
				if c.json {
					line, err := protocol.Marshal(q)
					if err != nil {
						return err
					}
					return printf(c.out, "%s\n", escapeJSON(line))
				}
				if isTerminal(c.out) {
					io.WriteString(unfilteredOutput(c.out), "\a") // the bell
				}
				return printf(c.out, "%s · %s\n", flat(q.Text), q.Answer)
			})
		}))
	cmd.Long = "Prints a line, with the bell of the terminal, for each approval, device, app and question of an MCP server that waits for you."
	return cmd
}

// openQuestions lists everything that waits for the person.
func (c *connection) openQuestions(ctx context.Context) ([]openQuestion, error) {
	open := []openQuestion{}
	approvals, err := call(ctx, c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	names := c.machineNames(ctx)
	for _, a := range approvals.Questions {
		open = append(open, approvalQuestion(a, names))
	}
	devices, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	for _, r := range devices.Requests {
		title, text := display.Request(r)
		open = append(open, openQuestion{r.ID, title + " " + text, "fairlead pair approve " + r.ID})
	}
	apps, err := call(ctx, c, protocol.AppsList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	for _, a := range apps.Consents {
		text := fmt.Sprintf("“%s” (unverified name) wants to use your machines; its browser page shows the code %s.", display.Line(a.Name, 60), a.Code)
		open = append(open, openQuestion{a.ID, text, "fairlead approve " + a.Code})
	}
	servers, err := call(ctx, c, protocol.ServerQuestions, protocol.Empty{})
	for _, q := range servers.Questions {
		open = append(open, serverQuestion(q))
	}
	return open, err
}

func approvalQuestion(a protocol.Question, machines names) openQuestion {
	what, where := display.CallText(a, machines.of(a.Node))
	text := display.Line(display.Asker(a.AskedBy)+": "+what+" "+where, 200)
	return openQuestion{string(a.ID), text, "fairlead approvals allow " + shortID(a.ID) + " (or deny; fairlead approvals list shows all of it)"}
}

func serverQuestion(q protocol.ServerQuestion) openQuestion {
	return openQuestion{q.ID, serverQuestionText(q), "fairlead questions answer " + shortID(q.ID)}
}

func serverQuestionText(q protocol.ServerQuestion) string {
	return fmt.Sprintf("“%s” asks: %s", display.Line(string(q.Server), 40), display.Line(strings.TrimSpace(q.Message+" "+q.URL), 300))
}

// serverQuestion returns the open question of a server whose ID begins with id.
func (c *connection) serverQuestion(ctx context.Context, id string) (q protocol.ServerQuestion, err error) {
	if id == "" {
		return q, errNoID
	}
	r, err := call(ctx, c, protocol.ServerQuestions, protocol.Empty{})
	if err != nil {
		return q, err
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(q protocol.ServerQuestion) bool { return !strings.HasPrefix(q.ID, id) })
	switch len(r.Questions) {
	case 0:
		return q, fmt.Errorf("no open question of an MCP server has the ID %s; to list them: fairlead questions", id)
	case 1:
		return r.Questions[0], nil
	}
	return q, usageError("%d questions begin with %s; type more of the ID", len(r.Questions), id)
}
