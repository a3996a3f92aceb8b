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
