package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairlead/app/feed"
	"fairlead/gateway/doctor"
	"fairlead/gateway/protocol"
)

// checkUp looks for problems of the gateway, and of the data folder home unless that is empty. It
// blocks.
func checkUp(ctx context.Context, f *feed.Feed, home, version string) []doctor.Finding {
	var found []doctor.Finding
	if home != "" {
		found = doctor.CheckHome(home)
	}
	return append(found, doctor.CheckGateway(ctx, checkedGateway{f}, doctor.Options{URL: "connected", Version: version})...)
}

// checkedGateway is the gateway of the windows for the checks.
type checkedGateway struct{ feed *feed.Feed }

func (g checkedGateway) Status(context.Context) (protocol.Status, error) {
	v := g.feed.View()
	switch {
	case v.Status.IsLost():
		return v.Status.Status, errors.New(v.Status.Problem)
	case !v.Status.Loaded:
		return v.Status.Status, protocol.ErrNotConnected
	}
	return v.Status.Status, nil
}

func (g checkedGateway) Nodes(context.Context) ([]protocol.NodeInfo, error) {
	return g.feed.View().Machines, nil
}

func (g checkedGateway) Servers(context.Context) ([]protocol.ServerStatus, error) {
	return g.feed.View().Servers.Servers, nil
}

func (g checkedGateway) TestModel(ctx context.Context, model protocol.ModelRef) (protocol.ModelsTestResult, error) {
	return feed.Call(ctx, g.feed, protocol.ModelsTest, protocol.ModelsTestParams{Provider: model.Provider, Model: model.ID})
}

// checkUpReport formats findings as a text to send to somebody. program describes the program.
func checkUpReport(program string, list []doctor.Finding) string {
	var b strings.Builder
	fmt.Fprintln(&b, program)
	for _, f := range list {
		fmt.Fprintf(&b, "%s %s: %s\n", doctor.Marks[f.State], f.Check, f.Found)
		for line := range strings.Lines(f.Details) {
			fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
		if f.Fix != "" && f.State != doctor.OK {
			fmt.Fprintf(&b, "  → %s\n", f.Fix)
		}
	}
	return b.String()
}
