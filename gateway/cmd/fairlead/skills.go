package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func skillsCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "skills", Short: "List skills and turn them on or off"}
	var agent string
	list := &cobra.Command{
		Use: "list", Short: "List all skills with their location and state", Args: cobra.NoArgs,
		Long: `Lists an agent's skills: its own (agents/AGENT/skills in the data folder), those shared by all agents (skills in the data folder) and the
built-in ones. A skill is a folder with a SKILL.md file; new ones are found at once.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.SkillsUpdate, protocol.SkillsParams{AgentID: protocol.AgentID(agent)})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				return printSkills(cmd.OutOrStdout(), r.Skills)
			})
		},
	}
	list.Flags().StringVar(&agent, "agent", string(protocol.MainAgent), "agent whose skills to list")
	cmd.AddCommand(list)
	for _, on := range []bool{true, false} {
		use, short := "disable NAME", "Turn a skill off"
		if on {
			use, short = "enable NAME", "Turn a skill on"
		}
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				_, err := call(ctx, c, protocol.SkillsEnable, protocol.SkillsEnableParams{Name: args[0], Enabled: on})
				return err
			})
		}})
	}
	return cmd
}

func printSkills(out io.Writer, list []protocol.SkillStatusEntry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		state := "ready"
		switch {
		case !s.Enabled:
			state = "off"
		case !s.Eligible:
			state = strings.Join(s.Reasons, "; ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Source, state, firstLine(s.Description))
		for _, p := range s.Problems {
			fmt.Fprintf(w, "\t\t! %s\t\n", p)
		}
	}
	return w.Flush()
}
