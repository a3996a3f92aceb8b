package state

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairlead/app/feed"
	"fairlead/gateway/doctor"
	"fairlead/gateway/protocol"
)

// CheckUp looks for problems of the gateway, and of the data folder home unless that is empty. It
// blocks.
func (a *App) CheckUp(ctx context.Context, home, version string) []doctor.Finding {
	var found []doctor.Finding
	if home != "" {
		found = doctor.CheckHome(home)
	}
	return append(found, doctor.CheckGateway(ctx, checkedGateway{a}, doctor.Options{URL: "connected", Version: version})...)
}

// checkedGateway is the gateway of the windows for the checks.
type checkedGateway struct{ a *App }

func (g checkedGateway) Status(context.Context) (protocol.Status, error) {
	v := g.a.View()
	switch {
	case !v.Status.Connected && v.Status.Problem != "":
		return v.Status.Status, errors.New(v.Status.Problem)
	case !v.Status.Loaded:
		return v.Status.Status, protocol.ErrNotConnected
	}
	return v.Status.Status, nil
}

func (g checkedGateway) Nodes(context.Context) ([]protocol.NodeInfo, error) {
	return g.a.View().Machines, nil
}

func (g checkedGateway) Servers(context.Context) ([]protocol.ServerStatus, error) {
	return g.a.View().Servers.Servers, nil
}

func (g checkedGateway) TestModel(ctx context.Context, model protocol.ModelRef) (protocol.ModelsTestResult, error) {
	return feed.Call(ctx, g.a, protocol.ModelsTest, protocol.ModelsTestParams{Provider: model.Provider, Model: model.ID})
}

// CheckUpReport formats findings as a text to send to somebody. program describes the program.
func CheckUpReport(program string, list []doctor.Finding) string {
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
