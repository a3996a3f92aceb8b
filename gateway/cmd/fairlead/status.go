package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// overview is the output of `fairlead status --json`.
type overview struct {
	URL       string              `json:"url"`
	Status    protocol.Status     `json:"status"`
	Nodes     []protocol.NodeInfo `json:"nodes"`
	Questions []protocol.Question `json:"questions"`
	// Commands are the running commands of apps.
	Commands []protocol.AppCommand `json:"commands"`
	// Note says why less is known than for a Fairlead gateway.
	Note string `json:"note,omitempty"`
}

func statusCommand(o *options) *cobra.Command {
	return command("status", "Show the gateway, machines, pending questions and commands of apps", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) (err error) {
			v := overview{URL: o.url, Note: c.specificationOnly()}
			if v.Status, err = c.status(ctx); err != nil {
				return err
			}
			if v.Nodes, err = machinesOf(c).list(ctx); err != nil {
				return err
			}
			if c.offers(protocol.QuestionList.Name) {
				var pending protocol.QuestionListResult
				pending, err = call(ctx, c, protocol.QuestionList, protocol.Empty{})
				v.Questions = pending.Questions
			}
			if c.offers(protocol.AppsList.Name) {
				if apps, err := call(ctx, c, protocol.AppsList, protocol.Empty{}); err == nil { // not for every token
					v.Commands = apps.Commands
				}
			}
			return show(c, v, err, printStatus)
		}))
}

func printStatus(out io.Writer, v overview) error {
	var t table
	state := "ready"
	switch {
	case v.Status.Storage != "":
		state = "cannot save anything: " + v.Status.Storage
	case v.Status.Paused:
		state = "the agent is paused"
	}
	if v.Note != "" {
		t.row("gateway", v.URL, "ready, "+flat(v.Note))
		t.row("model", v.Status.Model.String())
	} else {
		up := time.Since(time.UnixMilli(v.Status.StartedAt)).Round(time.Second)
		t.row("gateway", v.URL, fmt.Sprintf("%s, version %s, up %s", state, v.Status.Version, up))
		t.row("model", v.Status.Model.String())
		t.row("secrets", v.Status.SecretStore)
	}
	if len(v.Nodes) == 0 {
		t.row("machines", "none: start the desktop app, or the gateway with --node, or add a machine with fairlead pair")
	}
	names := namesOf(v.Nodes)
	for _, n := range v.Nodes {
		line := "offline"
		if n.Online {
			line = "online"
		}
		if n.Host != nil {
			line += ", " + n.Host.OS + ", workspace " + n.Host.Workspace
		}
		t.row("machine", names.full(n.ID), flat(line))
	}
	for _, problem := range v.Status.ServiceProblems {
		t.row("published apps", flat(problem))
	}
	for _, q := range v.Questions {
		t.row("needs you", flat(questionLine(q, names)))
	}
	for _, x := range v.Commands {
		t.row("app runs", x.Name+" on "+names.of(x.Node), flat(shortLine(x.Text))+", started "+ago(x.StartedAt)+"; to stop it: fairlead tokens stop "+x.ID)
	}
	return t.print(out, "")
}

// pauseCommand makes the command pause or resume, which does the same as "Pause agent" of the tray.
func pauseCommand(o *options, paused bool) *cobra.Command {
	params := func([]string) (protocol.PauseParams, error) { return protocol.PauseParams{Paused: paused}, nil }
	run := onMethod(o, protocol.AgentPause, params, func(out io.Writer, s protocol.Status) error {
		words := "The agent is running."
		if s.Paused {
			words = "The agent is paused. To resume it: fairlead resume"
		}
		return printf(out, "%s\n", words)
	})
	if !paused {
		cmd := command("resume", "Resume the paused agent", cobra.NoArgs, run)
		cmd.Long = "Resumes the paused agent. If the agent paused because messages cannot be saved, free up disk space first."
		return cmd
	}
	cmd := command("pause", "Pause the agent after its current step", cobra.NoArgs, run)
	cmd.Long = "Pauses the agent: the current step finishes, and nothing new starts. Background commands that were already allowed keep running until they finish,\n" +
		"the Process tool stops them, or their node stops. All other processes end with the command that started them."
	return cmd
}

// pausedWords says that a message waits because the agent is paused; empty when it is not.
func pausedWords(s protocol.Status) string {
	switch {
	case s.Storage != "":
		return "The agent is paused because messages cannot be saved: " + s.Storage + " When this is fixed: fairlead resume"
	case s.Paused:
		return "The agent is paused, so your message is waiting. To resume: fairlead resume"
	}
	return ""
}

func tokenCommand(o *options) *cobra.Command {
	return command("token", "Print the token for clients and nodes; keep it secret", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		t, err := o.findToken()
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(cmd.OutOrStdout(), map[string]string{"token": t})
		}
		return printf(cmd.OutOrStdout(), "%s\n", t)
	})
}
