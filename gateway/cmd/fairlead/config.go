package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func configCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Read or change the gateway's settings"}
	cmd.AddCommand(&cobra.Command{
		Use: "get [PATH]", Short: "Print one setting or all of them; secrets are shown as ***", Args: cobra.MaximumNArgs(1),
		Example: "  fairlead config get model.provider",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := strings.Join(args, "")
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
				if err != nil {
					return err
				}
				raw := r.Config
				if path != "" {
					if raw = r.Value; raw == nil {
						return protocol.ErrNotFound.With(fmt.Sprintf("%s is not set", path))
					}
				}
				var s string
				if !o.json && json.Unmarshal(raw, &s) == nil {
					fmt.Fprintln(exactOutput(cmd.OutOrStdout()), s)
					return nil
				}
				return printJSON(cmd.OutOrStdout(), raw)
			})
		},
	}, &cobra.Command{
		Use: "set PATH VALUE", Short: "Change a setting; VALUE is JSON or text, null restores the default", Args: cobra.ExactArgs(2),
		Example: "  fairlead config set model.provider anthropic\n  fairlead config set timeouts.toolMs 120000",
		RunE: func(cmd *cobra.Command, args []string) error {
			value := json.RawMessage(args[1])
			if !json.Valid(value) {
				value, _ = protocol.Marshal(args[1])
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: args[0], Value: value})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				return noteRestart(ctx, c, cmd.OutOrStdout(), args[0])
			})
		},
	}, configSchemaCommand(o))
	return cmd
}
