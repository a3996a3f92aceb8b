package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func configSchemaCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "schema [PATH]", Short: "Describe all settings, or those below PATH; * stands for any name", Args: cobra.MaximumNArgs(1),
		Example: "  fairlead config schema agents",
		RunE: func(cmd *cobra.Command, args []string) error {
			below := strings.Join(args, "")
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.ConfigSchema, protocol.Empty{})
				if err != nil {
					return err
				}
				fields := []protocol.ConfigField{}
				for _, f := range r.Fields {
					if below == "" || f.Path == below || strings.HasPrefix(f.Path, below+".") {
						fields = append(fields, f)
					}
				}
				if len(fields) == 0 {
					return protocol.ErrNotFound.With(fmt.Sprintf("there is no setting %s", below))
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), fields)
				}
				printSchema(cmd.OutOrStdout(), fields)
				return nil
			})
		},
	}
}

func printSchema(out io.Writer, fields []protocol.ConfigField) {
	for _, f := range fields {
		fmt.Fprintf(out, "%s  (%s)\n    %s\n", f.Path, strings.Join(describeValues(f), ", "), f.Description)
	}
}

// describeValues describes the values of a setting, in a few words each.
func describeValues(f protocol.ConfigField) []string {
	list := []string{f.Type}
	if f.Format == protocol.FormatMillis {
		list = append(list, "milliseconds")
	}
	if f.Unit != "" {
		list = append(list, f.Unit)
	}
	if len(f.Enum) > 0 {
		list = append(list, "one of "+strings.TrimPrefix(strings.Join(f.Enum, "|"), "|"))
	}
	switch {
	case f.Min != nil && f.Max != nil:
		list = append(list, fmt.Sprintf("%.10g to %.10g", *f.Min, *f.Max))
	case f.Min != nil:
		list = append(list, fmt.Sprintf("at least %.10g", *f.Min))
	}
	if f.Default != nil {
		list = append(list, "default "+string(f.Default))
	}
	if f.Secret {
		list = append(list, "secret, stored in the keychain")
	}
	if f.Restart {
		list = append(list, "takes effect after a restart")
	}
	return list
}

// noteRestart prints a note when a changed setting takes effect only after a restart of the
// gateway.
func noteRestart(ctx context.Context, c *connection, out io.Writer, path string) error {
	if !c.offers(protocol.ConfigSchema.Name) {
		return nil
	}
	r, err := call(ctx, c, protocol.ConfigSchema, protocol.Empty{})
	if err != nil {
		return err
	}
	for _, f := range r.Fields {
		if f.Restart && overlaps(f.Path, path) {
			fmt.Fprintf(out, "%s takes effect after the gateway restarts.\n", f.Path)
		}
	}
	return nil
}

// overlaps reports whether the setting path changes the field: path is the field itself, below it
// or above it. A "*" of the field matches any name.
func overlaps(field, path string) bool {
	f, p := strings.Split(field, "."), strings.Split(path, ".")
	for i := range min(len(f), len(p)) {
		if f[i] != p[i] && f[i] != "*" {
			return false
		}
	}
	return true
}
