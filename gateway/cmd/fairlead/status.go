package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// overview is the output of `fairlead status --json`.
type overview struct {
	URL       string              `json:"url"`
	Status    protocol.Status     `json:"status"`
	Nodes     []protocol.NodeInfo `json:"nodes"`
	Approvals []protocol.Approval `json:"approvals"`
	// Note says why less is known than for a Fairlead gateway.
	Note string `json:"note,omitempty"`
}

func statusCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the gateway, machines and pending approvals", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				v := overview{URL: o.url, Note: c.specificationOnly()}
				var err error
				if v.Status, err = c.status(ctx); err != nil {
					return err
				}
				if v.Nodes, err = c.nodes(ctx); err != nil {
					return err
				}
				if c.offers(protocol.ApprovalList.Name) {
					asked, err := call(ctx, c, protocol.ApprovalList, protocol.Empty{})
					if err != nil {
						return err
					}
					v.Approvals = asked.Approvals
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), v)
				}
				return v.print(cmd.OutOrStdout())
			})
		},
	}
}

func (v overview) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	state := "ready"
	switch {
	case v.Status.Storage != "":
		state = "cannot save anything: " + v.Status.Storage
	case v.Status.Paused:
		state = "the agent is paused"
	}
	if v.Note != "" {
		fmt.Fprintf(w, "gateway\t%s\tready, %s\nmodel\t%s\n", v.URL, flat(v.Note), v.Status.Model)
	} else {
		fmt.Fprintf(w, "gateway\t%s\t%s, version %s, up %s\n", v.URL, state, v.Status.Version,
			time.Since(time.UnixMilli(v.Status.StartedAt)).Round(time.Second))
		fmt.Fprintf(w, "model\t%s\nsecrets\t%s\n", v.Status.Model, v.Status.SecretStore)
	}
	if len(v.Nodes) == 0 {
		fmt.Fprintln(w, "machines\tnone: run fairlead node, or start the gateway with --node")
	}
	names := namesOf(v.Nodes)
	for _, n := range v.Nodes {
		line := "offline"
		if n.Online {
			line = "online"
		}
		if n.Host != nil {
			line += ", " + n.Host.OS + ", workspace " + n.Host.Workspace
		}
		fmt.Fprintf(w, "machine\t%s\t%s\n", names.full(n.ID), flat(line))
	}
	for _, a := range v.Approvals {
		fmt.Fprintf(w, "needs you\t%s on %s\t%s\n", a.Tool, names.of(a.Node), firstLine(questionText(a)))
	}
	return w.Flush()
}
