package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
	"fairlead/node/setup"
)

func exposureCommand(o *options) *cobra.Command {
	cmd := command("exposure", "List who and what can reach the gateway, your machines and the agent", cobra.NoArgs,
		onMethod(o, protocol.ExposureList, nil, printExposures))
	cmd.Long = `Lists every way in, by kind, with its last use: addresses, published apps, forwards, tokens, connected apps, paired machines and
clients, channels, and what is allowed without a question. An exclamation mark and capitals warn of what is public without sign-in, reachable
from the network, unused for 30 days, or never expires.`
	cmd.Example = `  fairlead exposure
  fairlead exposure close ID`
	cmd.AddCommand(closeExposureCommand(o))
	return cmd
}

func printExposures(out io.Writer, r protocol.ExposureListResult) error {
	kind := ""
	var t table
	for _, e := range r.Exposures {
		if e.Kind != kind {
			if err := t.print(out, ""); err != nil {
				return err
			}
			if err := printf(out, "%s%s\n", map[bool]string{true: "\n"}[kind != ""], display.ExposureGroup(e.Kind)); err != nil {
				return err
			}
			t, kind = nil, e.Kind
		}
		mark, warnings := " ", make([]string, len(e.Warnings))
		for i, w := range e.Warnings {
			mark, warnings[i] = "!", strings.ToUpper(display.ExposureWarning(w))
		}
		t.row(mark+" "+e.ID, flat(e.Title), display.ExposureTimes(e, ago, minuteText), strings.Join(warnings, ", "), flat(e.Reach))
	}
	return t.print(out, "")
}

func closeExposureCommand(o *options) *cobra.Command {
	var yes bool
	cmd := command("close ID", "Close a way in; \"fairlead exposure\" shows the IDs", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			e, err := findExposure(ctx, c, args[0])
			if err != nil {
				return err
			}
			if !yes {
				fmt.Fprintf(c.err, "%s: %s %s? (yes/no) ", flat(e.Title), flat(e.Close.Ends), e.Close.Button)
				answer, err := setup.ReadLine(ctx, cmd.InOrStdin())
				if err != nil || strings.TrimSpace(answer) != "yes" {
					fmt.Fprintln(c.err, "Nothing was changed.")
					return nil
				}
			}
			m := protocol.Method[json.RawMessage, json.RawMessage]{Name: e.Close.Call.Method}
			done, err := call(ctx, c, m, e.Close.Call.Params)
			return show(c, done, err, func(out io.Writer, _ json.RawMessage) error {
				return printf(out, "%s is closed. %s\n", flat(e.Title), flat(e.Close.Ends))
			})
		})
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// findExposure finds the way in whose ID begins with a text, and that can be closed here.
func findExposure(ctx context.Context, c *connection, id string) (protocol.Exposure, error) {
	if id == "" {
		return protocol.Exposure{}, errNoID
	}
	r, err := call(ctx, c, protocol.ExposureList, protocol.Empty{})
	if err != nil {
		return protocol.Exposure{}, err
	}
	var found []protocol.Exposure
	for _, e := range r.Exposures {
		if e.ID == id {
			found = []protocol.Exposure{e}
			break
		}
		if strings.HasPrefix(e.ID, id) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return protocol.Exposure{}, protocol.ErrNotFound.With(fmt.Sprintf("no way in has the ID %s; to list the IDs: fairlead exposure", format.Clip(id, 80)))
	case len(found) > 1:
		return protocol.Exposure{}, usageError("%d IDs begin with %s; type more of the ID", len(found), id)
	case found[0].Close == nil:
		return protocol.Exposure{}, usageError("%s cannot be closed here: %s", found[0].Title, found[0].Reach)
	}
	return found[0], nil
}
