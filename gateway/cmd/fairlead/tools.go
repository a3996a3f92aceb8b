package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func toolsCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "tools", Short: "List tools or call one"}
	cmd.AddCommand(toolsListCommand(o), toolsCallCommand(o))
	return cmd
}

func toolsListCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all tools", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(o, cmd, protocol.ToolsList, protocol.Empty{}, func(out io.Writer, r protocol.ToolsListResult) error {
				if len(r.Tools) == 0 {
					_, err := fmt.Fprintln(out, "No tools: no machine is connected.")
					return err
				}
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				for _, t := range r.Tools {
					fmt.Fprintf(w, "%s\t%s\t%s\n", flat(t.Name), effectWord(t.Effect), flat(firstLine(t.Description)))
				}
				return w.Flush()
			})
		},
	}
}

func toolsCallCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "call NAME [JSON]",
		Short: "Call a tool as yourself: recorded in the journal, without approval",
		Long: `Calls a tool as yourself and prints the result. NAME is the full name, such as laptop__Bash. JSON is its arguments; "-" reads them from
standard input.`,
		Example: `  fairlead tools call laptop__Bash '{"command":"uname -a"}'`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := toolArguments(cmd.InOrStdin(), args[1:])
			if err != nil {
				return err
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: protocol.ToolName(args[0]), Args: raw})
				if errors.Is(err, protocol.ErrInternal) {
					return &exitError{code: exitTool, err: err}
				}
				if err != nil {
					return err
				}
				if o.json {
					err = printJSON(cmd.OutOrStdout(), r)
				} else {
					err = printResult(exactOutput(cmd.OutOrStdout()), r.Result)
				}
				if err != nil {
					return err
				}
				return nativeFailure(r)
			})
		},
	}
}

// toolArguments returns the arguments of a call as given: JSON, standard input, or none.
func toolArguments(in io.Reader, given []string) (json.RawMessage, error) {
	if len(given) == 0 {
		return json.RawMessage("{}"), nil
	}
	raw := json.RawMessage(given[0])
	if given[0] == "-" {
		var err error
		if raw, err = io.ReadAll(in); err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
	}
	if !json.Valid(raw) {
		return nil, &exitError{code: exitUsage, err: errors.New("the arguments are not valid JSON")}
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

// printResult shows a tool's result to a person: the requested part, without its JSON wrapping.
func printResult(w io.Writer, raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		_, err := fmt.Fprintln(w, text)
		return err
	}
	var r struct {
		Output   *string `json:"output"`
		Content  any     `json:"content"`
		ExitCode *int    `json:"exitCode"`
	}
	if json.Unmarshal(raw, &r) == nil {
		if s, ok := r.Content.(string); ok {
			r.Output = &s
		}
		if r.Output != nil {
			if _, err := io.WriteString(w, ensureNewline(*r.Output)); err != nil {
				return err
			}
			if r.ExitCode != nil && *r.ExitCode != 0 {
				return &exitError{code: exitTool, err: fmt.Errorf("the command exited with code %d", *r.ExitCode)}
			}
			return nil
		}
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	return printJSON(w, v)
}

func ensureNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func effectWord(e protocol.Effect) string {
	if e == protocol.EffectUnknown {
		return "unknown"
	}
	return string(e)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 90 {
		return string(r[:89]) + "…"
	}
	return s
}
