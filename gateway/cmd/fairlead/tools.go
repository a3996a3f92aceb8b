package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func toolsCommand(o *options) *cobra.Command {
	return group("tools", "List tools or call one",
		command("list", "List all tools", cobra.NoArgs, onMethod(o, protocol.ToolsList, nil, printTools)), toolsCallCommand(o))
}

func printTools(out io.Writer, r protocol.ToolsListResult) error {
	var t table
	for _, spec := range r.Tools {
		t.row(flat(spec.Name), cmp.Or(string(spec.Effect), "unknown"), flat(firstLine(spec.Description)))
	}
	return t.print(out, "No tools: no machine is connected.")
}

func toolsCallCommand(o *options) *cobra.Command {
	cmd := command("call NAME [JSON]", "Call a tool as yourself, without approval; the journal records the call", cobra.RangeArgs(1, 2),
		func(cmd *cobra.Command, args []string) error {
			raw, err := toolArguments(cmd.InOrStdin(), args[1:])
			if err != nil {
				return err
			}
			return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
				stop := questionsOf(c).note(ctx)
				r, err := call(ctx, c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: protocol.ToolName(args[0]), Args: raw})
				stop()
				if errors.Is(err, protocol.ErrInternal) {
					return &exitError{code: exitTool, err: err}
				}
				err = show(c, r, err, func(out io.Writer, r protocol.ToolInvokeResult) error {
					return printResult(exactOutput(out), c.err, r.Result)
				})
				if err != nil {
					return err
				}
				return nativeFailure(r)
			})
		})
	cmd.Long = `Calls a tool as yourself and prints the result. NAME is the full name, such as laptop__Bash. JSON is its arguments; "-" reads them from
standard input.`
	cmd.Example = `  fairlead tools call laptop__Bash '{"command":"uname -a"}'`
	return cmd
}

// toolArguments returns the arguments of a call: JSON, standard input, or none.
func toolArguments(in io.Reader, args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	raw := json.RawMessage(args[0])
	if args[0] == "-" {
		var err error
		if raw, err = io.ReadAll(in); err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
	}
	if !json.Valid(raw) {
		return nil, usageError("the arguments are not valid JSON")
	}
	return raw, nil
}

// nativeFailure returns the failure that a tool of the gateway reports in its result
// (docs/protocol.md#tools-and-calls), or nil.
func nativeFailure(r protocol.ToolInvokeResult) error {
	var out struct {
		OK    *bool   `json:"ok"`
		Error *string `json:"error"`
	}
	if json.Unmarshal(r.Result, &out) != nil || out.OK == nil || *out.OK || out.Error == nil {
		return nil
	}
	return &exitError{code: exitTool, err: errors.New(*out.Error)}
}

// printResult shows a tool's result to a person: the requested part, without its JSON wrapping, and
// a note about it on notes.
func printResult(w, notes io.Writer, raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return printf(w, "%s\n", text)
	}
	var r toolOutput
	var ok bool
	if json.Unmarshal(raw, &r) == nil {
		text, ok = r.text()
	}
	if ok {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		if r.Note != "" {
			fmt.Fprintf(notes, "Note: %s\n", r.Note)
		}
		if r.ExitCode != nil && *r.ExitCode != 0 {
			return &exitError{code: exitTool, err: fmt.Errorf("the command exited with code %d", *r.ExitCode)}
		}
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	return printJSON(w, v)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return format.Clip(s, 90)
}
