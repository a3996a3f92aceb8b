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

// maxArguments bounds the arguments that a call reads from standard input, in bytes.
const maxArguments = 4 << 20

// callCommand calls a tool for programs, or lists them.
func callCommand(o *options) *cobra.Command {
	var key string
	cmd := command("call [NAME [JSON]]", "Call a tool as programs do over MCP and REST; without a name, list the tools", cobra.MaximumNArgs(2), func(cmd *cobra.Command, args []string) error {
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			if len(args) == 0 {
				return showCall(ctx, c, protocol.CatalogList, protocol.Empty{}, printCatalog)
			}
			in, err := callParams(c, args)
			if err != nil {
				return err
			}
			in.IdempotencyKey = key
			r, err := call(ctx, c, protocol.CatalogCall, in)
			if err == nil && r.Fault != nil {
				err = faultError(c, r.Fault)
			}
			return show(c, r, err, printOutcome)
		})
	})
	cmd.Flags().StringVar(&key, "idempotency-key", "", "a repetition with the same key returns the first result")
	return cmd
}

// callParams reads the arguments of a call: JSON, - for standard input, or nothing.
func callParams(c *connection, args []string) (protocol.CatalogCallParams, error) {
	in := protocol.CatalogCallParams{Tool: args[0], Args: json.RawMessage("{}")}
	if len(args) < 2 {
		return in, nil
	}
	text := args[1]
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(c.in, maxArguments+1))
		if err != nil {
			return in, fmt.Errorf("read the arguments: %w", err)
		}
		if len(raw) > maxArguments {
			return in, usageError("the arguments have more than %d bytes", maxArguments)
		}
		text = string(raw)
	}
	if !json.Valid([]byte(text)) {
		return in, usageError("JSON must be a JSON object, such as '{\"path\": \"/etc/hosts\"}'")
	}
	in.Args = json.RawMessage(text)
	return in, nil
}

// faultError prints a failure as JSON with --json, and returns it.
func faultError(c *connection, f *protocol.Fault) error {
	if c.json {
		if err := printJSON(c.out, map[string]*protocol.Fault{"error": f}); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %s", f.Code, f.Message)
}

func printCatalog(out io.Writer, r protocol.CatalogListResult) error {
	var t table
	for _, x := range r.Tools {
		line, _, _ := strings.Cut(x.Description, "\n")
		description, _, _ := strings.Cut(line, ". ")
		t.row(x.Name, flat(description))
	}
	return t.print(out, "There are no tools.")
}

func printOutcome(out io.Writer, r protocol.CatalogCallResult) error {
	for _, chunk := range r.Chunks {
		if err := printf(out, "%s\n", chunk); err != nil {
			return err
		}
	}
	return printf(out, "%s\n", r.Data)
}
