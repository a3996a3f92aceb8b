package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func skillsCommand(o *options) *cobra.Command {
	var agent string
	params := func([]string) (protocol.SkillsParams, error) {
		return protocol.SkillsParams{AgentID: protocol.AgentID(agent)}, nil
	}
	list := command("list", "List all skills with their location and state", cobra.NoArgs, onMethod(o, protocol.SkillsUpdate, params, printSkills))
	list.Long = `Lists an agent's skills: its own (agents/AGENT/skills in the data folder), those shared by all agents (skills in the data folder) and the
built-in ones. A skill is a folder with a SKILL.md file; new ones are found at once.`
	list.Flags().StringVar(&agent, "agent", string(protocol.MainAgent), "agent whose skills to list")
	enable := func(on bool) runner {
		return o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			_, err := call(ctx, c, protocol.SkillsEnable, protocol.SkillsEnableParams{Name: args[0], Enabled: on})
			return err
		})
	}
	return group("skills", "List skills and turn them on or off", list,
		command("enable NAME", "Turn a skill on", cobra.ExactArgs(1), enable(true)),
		command("disable NAME", "Turn a skill off", cobra.ExactArgs(1), enable(false)))
}

func printSkills(out io.Writer, r protocol.SkillsStatusResult) error {
	var t table
	for _, s := range r.Skills {
		state := "ready"
		switch {
		case !s.Enabled:
			state = "off"
		case !s.Eligible:
			state = strings.Join(s.Reasons, "; ")
		}
		t.row(s.Name, s.Source, state, firstLine(s.Description))
		for _, p := range s.Problems {
			t.row("", "", "! "+p, "")
		}
	}
	return t.print(out, "")
}
