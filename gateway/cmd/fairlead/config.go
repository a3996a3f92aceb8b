package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func configCommand(o *options) *cobra.Command {
	get := command("get [PATH]", "Print one setting or all of them; secrets are shown as ***", cobra.MaximumNArgs(1), o.onGateway(getSetting))
	get.Example = "  fairlead config get model.provider"
	set := command("set PATH VALUE", "Change a setting; VALUE is JSON or text, null restores the default", cobra.ExactArgs(2), o.onGateway(setSetting))
	set.Example = "  fairlead config set model.provider anthropic\n  fairlead config set timeouts.toolMs 120000"
	schema := command("schema [PATH]", "Describe all settings, or those below PATH; * stands for any name", cobra.MaximumNArgs(1),
		o.onGateway(describeSettings))
	schema.Example = "  fairlead config schema agents"
	return group("config", "Read or change the gateway's settings", get, set, schema)
}

func getSetting(ctx context.Context, c *connection, args []string) error {
	path := strings.Join(args, "")
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
	if !c.json && json.Unmarshal(raw, &s) == nil {
		fmt.Fprintln(exactOutput(c.out), s)
		return nil
	}
	return printJSON(c.out, raw)
}

func setSetting(ctx context.Context, c *connection, args []string) error {
	value := json.RawMessage(args[1])
	if !json.Valid(value) {
		value, _ = protocol.Marshal(args[1])
	}
	p := protocol.ConfigSetParams{Path: args[0], Value: value}
	return showCall(ctx, c, protocol.ConfigSet, p, func(out io.Writer, _ protocol.ConfigSetResult) error {
		return noteRestart(ctx, c, out, args[0])
	})
}

func describeSettings(ctx context.Context, c *connection, args []string) error {
	below := strings.Join(args, "")
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
	return show(c, fields, nil, func(out io.Writer, fields []protocol.ConfigField) error {
		for _, f := range fields {
			fmt.Fprintf(out, "%s  (%s)\n    %s\n", f.Path, strings.Join(describeValues(f), ", "), f.Description)
		}
		return nil
	})
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

// noteRestart prints a note when a changed setting takes effect after a restart of the gateway.
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
