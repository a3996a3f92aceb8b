package nodes

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestToolThatIsNotIdempotentIsWarnedAbout: a tool that has an effect, is not idempotent and
// ignores its idempotency key gets a warning.
func TestToolThatIsNotIdempotentIsWarnedAbout(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	yes, no := true, false
	p := params("n")
	p.Tools = nil
	p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{}}
	for name, spec := range map[string]protocol.ToolSpec{
		"Pay":    {Effect: protocol.EffectNetwork},
		"Mail":   {SideEffect: &yes},
		"Bill":   {SideEffect: &yes, AcceptsKey: true},
		"Upsert": {SideEffect: &yes, Idempotent: true},
		"Quiet":  {SideEffect: &no},
		"Order":  {Effect: protocol.EffectNetwork, AcceptsKey: true},
		"Put":    {Effect: protocol.EffectNetwork, Idempotent: true},
		"Look":   {Effect: protocol.EffectRead},
		"Odd":    {},
		"Bash":   {Effect: protocol.EffectExec},
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
	if n := strings.Count(log.String(), "level=WARN"); n != 2 || !strings.Contains(log.String(), "tool=Pay") || !strings.Contains(log.String(), "tool=Mail") {
		t.Errorf("want warnings about Pay and Mail alone, got\n%s", log.String())
	}
}

// The side effects that a tool declares in the words of the protocol are parsed; a missing or
// contradictory declaration counts as unknown.
func TestEffectIsTheDeclaredOne(t *testing.T) {
	yes, no := true, false
	h := New(nil, nil)
	p := params("n")
	p.Tools, p.NodeRuntime = nil, &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{}}
	want := map[string]protocol.Effect{}
	for name, c := range map[string]struct {
		spec protocol.ToolSpec
		want protocol.Effect
	}{
		"Nothing": {protocol.ToolSpec{}, protocol.EffectUnknown},
		"Pure":    {protocol.ToolSpec{SideEffect: &no}, protocol.EffectRead},
		"Changes": {protocol.ToolSpec{SideEffect: &yes}, protocol.EffectUnknown},
		"Odd":     {protocol.ToolSpec{Effect: "obliterate"}, protocol.EffectUnknown},
		"Both":    {protocol.ToolSpec{Effect: protocol.EffectRead, SideEffect: &yes}, protocol.EffectUnknown},
		"Worse":   {protocol.ToolSpec{Effect: protocol.EffectWrite, SideEffect: &no}, protocol.EffectWrite},
		"Read":    {protocol.ToolSpec{Effect: protocol.EffectRead}, protocol.EffectRead},
	} {
		c.spec.Name = name
		p.Tools = append(p.Tools, c.spec)
		p.NodeRuntime.ToolCapabilities[name] = []string{protocol.CapExec}
		want[name] = c.want
	}
	detach, err := h.Attach(t.Context(), p, Entry{}, newLink())
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	for name, effect := range want {
		if _, spec, err := h.Lookup(protocol.NewToolName("n", name)); err != nil || spec.Effect != effect {
			t.Errorf("%s: effect %q, %v, want %q", name, spec.Effect, err, effect)
		}
	}
}
