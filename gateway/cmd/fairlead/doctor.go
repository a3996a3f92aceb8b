package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/doctor"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func doctorCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check for problems and show how to fix them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := o.examine(cmd.Context())
			if o.json {
				if err := printJSON(cmd.OutOrStdout(), findings); err != nil {
					return err
				}
			} else {
				printFindings(cmd.OutOrStdout(), findings)
			}
			for _, f := range findings {
				if f.State == doctor.Bad {
					return &exitError{code: exitFailed, err: errors.New("problems found"), printed: true}
				}
			}
			return nil
		},
	}
}

func (o *options) examine(ctx context.Context) []doctor.Finding {
	home, err := o.homeDir()
	if err != nil {
		return []doctor.Finding{{Check: "data folder", State: doctor.Bad, Found: err.Error(), Fix: "set FAIRLEAD_HOME to a folder that you can write to"}}
	}
	all := doctor.CheckHome(home)
	c, err := o.connectAs(ctx, client.Options{})
	if err != nil {
		fix := "start one with fairlead gateway --node or the desktop app"
		if errors.Is(err, protocol.ErrUnauthorized) {
			fix = "set FAIRLEAD_TOKEN to the gateway's token (run fairlead token on the gateway's computer to print it)"
		}
		return append(all, doctor.Finding{Check: "gateway", State: doctor.Bad, Found: err.Error(), Fix: fix})
	}
	defer c.close()
	return append(all, doctor.CheckGateway(ctx, examined{c}, doctor.Options{URL: o.url, Version: gateway.Version, Limited: c.specificationOnly()})...)
}

// examined is a connected gateway for the checks.
type examined struct{ c *connection }

func (e examined) Status(ctx context.Context) (protocol.Status, error) { return e.c.status(ctx) }

func (e examined) Nodes(ctx context.Context) ([]protocol.NodeInfo, error) {
	return machinesOf(e.c).list(ctx)
}

func (e examined) Servers(ctx context.Context) ([]protocol.ServerStatus, error) {
	r, err := call(ctx, e.c, protocol.ServersList, protocol.Empty{})
	return r.Servers, err
}

func (e examined) TestModel(ctx context.Context, model protocol.ModelRef) (protocol.ModelsTestResult, error) {
	return call(ctx, e.c, protocol.ModelsTest, protocol.ModelsTestParams{Provider: model.Provider, Model: model.ID})
}

func printFindings(w io.Writer, all []doctor.Finding) {
	width := 0
	for _, f := range all {
		width = max(width, utf8.RuneCountInString(f.Check))
	}
	for _, f := range all {
		fmt.Fprintf(w, "%s %-*s %s\n", doctor.Marks[f.State], width, flat(f.Check), flat(f.Found))
		for line := range strings.Lines(f.Details) {
			fmt.Fprintf(w, "  %-*s %s\n", width, "", flat(strings.TrimSuffix(line, "\n")))
		}
		if f.Fix != "" && f.State != doctor.OK && f.State != doctor.Note {
			fmt.Fprintf(w, "  %-*s → %s\n", width, "", flat(f.Fix))
		}
	}
}
