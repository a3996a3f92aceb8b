package nodes

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestToolThatMayHappenTwiceIsWarnedAbout is seed 001, Side Effects: one that has an effect, is not idempotent and ignores its key.
func TestToolThatMayHappenTwiceIsWarnedAbout(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	p := params("n")
	p.Tools = nil
	p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{}}
	for name, spec := range map[string]protocol.ToolSpec{
		"Pay":   {Effect: protocol.EffectNetwork},
		"Order": {Effect: protocol.EffectNetwork, AcceptsKey: true},
		"Put":   {Effect: protocol.EffectNetwork, Idempotent: true},
		"Look":  {Effect: protocol.EffectRead},
		"Odd":   {},
		"Bash":  {Effect: protocol.EffectExec},
	} {
		spec.Name = name
		p.Tools = append(p.Tools, spec)
		p.NodeRuntime.ToolCapabilities[name] = []string{protocol.CapExec}
	}
	detach, err := New(nil, nil).Attach(t.Context(), p, Entry{}, newLink())
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "tool=Pay") {
		t.Errorf("log:\n%s", log.String())
	}
}
