package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// modelList is the output of `fairlead models --json`.
type modelList struct {
	Provider string               `json:"provider"`
	Models   []protocol.ModelInfo `json:"models"`

	used protocol.ModelRef
}

func modelsCommand(o *options) *cobra.Command {
	cmd := command("models [PROVIDER]", "List a provider's models", cobra.MaximumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			status, err := c.status(ctx)
			if err != nil {
				return err
			}
			list := modelList{Provider: status.Model.Provider, used: status.Model}
			if len(args) > 0 {
				list.Provider = args[0]
			}
			r, err := call(ctx, c, protocol.ModelsList, protocol.ModelsListParams{Provider: list.Provider})
			if errors.Is(err, protocol.ErrModelAuth) {
				return fmt.Errorf("%w\nTo set the key from here: fairlead config set apiKeys.%s KEY", err, list.Provider)
			}
			list.Models = r.Models
			return show(c, list, err, printModels)
		}))
	cmd.Long = `Lists a provider's models with name, context window in tokens and price in US dollars per million tokens, where known. * marks
the model in use. PROVIDER is one of ` + strings.Join(protocol.ProviderIDs, ", ") + `;
without it, the provider in use.`
	cmd.AddCommand(localModelsCommand(o), pullCommand(o))
	cmd.Example = "  fairlead models anthropic\n  fairlead config set model '{\"provider\":\"ollama\",\"id\":\"qwen3\"}'"
	return cmd
}

func printModels(out io.Writer, l modelList) error {
	var t table
	for _, m := range l.Models {
		mark, name, window, price, tools := " ", "", "", "", ""
		if l.used == (protocol.ModelRef{Provider: l.Provider, ID: m.ID}) {
			mark = "*"
		}
		if m.Name != m.ID {
			name = m.Name
		}
		if m.ContextWindow > 0 {
			window = fmt.Sprintf("%d tokens", m.ContextWindow)
		}
		if m.PriceIn != nil && m.PriceOut != nil {
			price = fmt.Sprintf("$%.4g in, $%.4g out", *m.PriceIn, *m.PriceOut)
		}
		if !m.Tools {
			tools = "no tools"
		}
		t.row(mark+" "+flat(m.ID), flat(name), window, price, tools)
	}
	return t.print(out, l.Provider+" has no models. Load one there, then try again.")
}

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
