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
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// questions are what waits for the person at a gateway.
type questions struct{ c *connection }

func questionsOf(c *connection) questions { return questions{c} }

// openQuestion is a question in one line, with the command that answers it.
type openQuestion struct {
	ID     protocol.QuestionID `json:"id"`
	Kind   string              `json:"kind"`
	Text   string              `json:"text"` // one line
	Answer string              `json:"answer"`
}

func openQuestionOf(q protocol.Question, machines names) openQuestion {
	return openQuestion{q.ID, q.Kind, questionLine(q, machines), answerCommand(q)}
}

func (q openQuestion) print(out io.Writer) error {
	return printf(out, "%s\n  to answer: %s\n", flat(q.Text), q.Answer)
}

// questionLine words a question in one line.
func questionLine(q protocol.Question, machines names) string {
	if !q.IsOfCall() {
		return display.Line(q)
	}
	what, where := display.CallText(q, machines.of(q.Node))
	return format.Line(display.Asker(q.AskedBy)+": "+what+" "+where, 200)
}

// answerCommand returns the command that answers a question.
func answerCommand(q protocol.Question) string {
	switch {
	case q.App != nil:
		return "fairlead approve " + q.App.Code
	case q.Input != nil:
		return "fairlead questions answer " + shortID(q.ID)
	case q.Tools != nil:
		return "fairlead servers accept " + string(q.Tools.Server) + " (shows the changes first)"
	case q.Visit != nil:
		return "fairlead questions allow " + shortID(q.ID) + " --for hour (or day, always; or deny)"
	case !q.IsOfCall():
		return "fairlead questions allow " + shortID(q.ID) + " (or deny)"
	}
	return "fairlead approvals allow " + shortID(q.ID) + " (or deny; fairlead approvals list shows all of it)"
}

func questionsCommand(o *options) *cobra.Command {
	list := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		open, err := questionsOf(c).open(ctx)
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
	cmd := command("questions", "List everything that waits for you, and answer it", cobra.NoArgs, list)
	answer := command("answer ID [NAME=VALUE ...]", "Answer a question of an MCP server; without values, you are asked for them", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			q, err := questionsOf(c).find(ctx, args[0])
			switch {
			case err != nil:
				return err
			case q.Input == nil:
				return usageError("this question is answered with: %s", answerCommand(q))
			}
			return answerInput(ctx, c, q, args[1:])
		}))
	answer.Example = "  fairlead questions answer 3f name=Anna colors=red,green"
	cmd.AddCommand(answer, questionsAnswerCommand(o, protocol.DecisionAllow, "Allow what a question asks for, once"),
		questionsAnswerCommand(o, protocol.DecisionDeny, "Deny what a question asks for"), watchCommand(o))
	cmd.Long = `Lists everything that waits for you, with the command that answers it: calls, devices that want to pair, machines that offer more,
apps that want to connect, questions of MCP servers, changed tools of theirs, people on channels who want to write, and visitors who ask for
access to a published app. ID can be the first characters of an ID.
fairlead approvals has more answers for calls.`
	return cmd
}

// questionsAnswerCommand makes the command allow or deny for every kind of question.
func questionsAnswerCommand(o *options, decision, short string) *cobra.Command {
	var answer protocol.QuestionAnswerParams
	cmd := command(decision+" ID", short, cobra.ExactArgs(1), o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		q, err := questionsOf(c).find(ctx, args[0])
		if err != nil {
			return err
		}
		p := answer
		p.Decision = decision
		if q.App != nil {
			p.Nodes = q.App.Nodes
		}
		return questionsOf(c).answer(ctx, q, p, func(out io.Writer, q protocol.Question) error { return printf(out, "%s.\n", format.Capital(q.State)) })
	}))
	if decision == protocol.DecisionAllow {
		cmd.Flags().StringVar(&answer.For, "for", "", "for a visitor of a published app: hour (default), day or always")
	}
	return cmd
}

// answer answers a question and prints the answered one. A question that somebody else answered
// first is an error that names them.
func (s questions) answer(ctx context.Context, q protocol.Question, p protocol.QuestionAnswerParams, print func(io.Writer, protocol.Question) error) error {
	p.ID, p.Hash = q.ID, q.Hash
	return showCall(ctx, s.c, protocol.QuestionAnswer, p, func(out io.Writer, r protocol.QuestionAnswerResult) error {
		if !r.Won {
			return fmt.Errorf("too late: the question was already %s by %s", r.Question.State, r.Question.AnsweredBy)
		}
		return print(out, r.Question)
	})
}

// answerInput answers what an MCP server wants to know, with values such as name=Anna or with those
// that the person types.
func answerInput(ctx context.Context, c *connection, q protocol.Question, words []string) error {
	values, err := fieldValues(*q.Input, words)
	if len(words) == 0 && len(q.Input.Fields) > 0 {
		t := &terminal{out: c.out, err: c.err, in: newLines(c.in)}
		if !t.interactive() {
			return usageError("give the values as NAME=VALUE:\n%s", fieldList(*q.Input))
		}
		values, err = t.askFields(ctx, *q.Input)
	}
	p := protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Values: values}
	if errors.Is(err, errDeclined) {
		p.Decision, err = protocol.DecisionDeny, nil
	}
	if err != nil {
		return err
	}
	return questionsOf(c).answer(ctx, q, p, func(out io.Writer, q protocol.Question) error {
		if q.State == protocol.QuestionDenied {
			return printf(out, "Declined.\n")
		}
		return printf(out, "Answered.\n")
	})
}

// watch calls report for each pending question once, until ctx ends. It reports those that
// are open at first, too.
func (s questions) watch(ctx context.Context, report func(protocol.Question) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reported := make(map[protocol.QuestionID]bool)
	look := func(q protocol.Question) {
		if q.State == protocol.QuestionPending && !reported[q.ID] {
			reported[q.ID] = true
			if err := report(q); err != nil {
				cancel(err)
			}
		}
	}
	err := s.c.Questions(ctx, func(pending []protocol.Question) {
		for _, q := range pending {
			look(q)
		}
	}, look)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// note prints the questions of MCP servers that open until stop is called: a call may
// wait for an answer.
func (s questions) note(ctx context.Context) (stop func()) {
	if !s.c.offers(protocol.QuestionWatch.Name) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg crash.Group
	wg.Go(func() {
		noted := make(map[protocol.QuestionID]bool)
		s.c.Questions(ctx, func([]protocol.Question) {}, func(q protocol.Question) {
			if q.Input != nil && q.State == protocol.QuestionPending && !noted[q.ID] {
				noted[q.ID] = true
				openQuestionOf(q, nil).print(s.c.err)
			}
		})
	})
	return func() { cancel(); wg.Wait() }
}

// watchCommand makes the command that prints a line for each question that opens.
func watchCommand(o *options) *cobra.Command {
	cmd := command("watch", "Print a line whenever something waits for you, until you press Ctrl+C", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			if err := c.requireMethod(protocol.QuestionWatch.Name); err != nil {
				return err
			}
			machines := machinesOf(c).names(ctx)
			return questionsOf(c).watch(ctx, func(question protocol.Question) error {
				q := openQuestionOf(question, machines)
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
	cmd.Long = "Prints a line, with the bell of the terminal, for everything that waits for you now or later."
	return cmd
}

// open lists everything that waits for the person.
func (s questions) open(ctx context.Context) ([]openQuestion, error) {
	r, err := call(ctx, s.c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	open, machines := []openQuestion{}, machinesOf(s.c).names(ctx)
	for _, q := range r.Questions {
		open = append(open, openQuestionOf(q, machines))
	}
	return open, nil
}

// find returns the pending question whose ID begins with id.
func (s questions) find(ctx context.Context, id string) (q protocol.Question, err error) {
	if id == "" {
		return q, errNoID
	}
	r, err := call(ctx, s.c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return q, err
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(q protocol.Question) bool { return !strings.HasPrefix(string(q.ID), id) })
	switch len(r.Questions) {
	case 0:
		return q, fmt.Errorf("no open question has the ID %s; to list them: fairlead questions", id)
	case 1:
		return r.Questions[0], nil
	}
	return q, usageError("%d questions begin with %s; type more of the ID", len(r.Questions), id)
}
