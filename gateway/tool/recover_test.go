package tool_test

import (
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool/tooltest"
)

func TestDirectCallsOfAnEarlierStartEnd(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	put := func(id, run, state string, effect protocol.Effect) {
		t.Helper()
		c := store.Call{Info: protocol.CallInfo{
			CallID: protocol.CallID(id), RunID: protocol.RunID(run), Node: "tower", Tool: "Bash", State: state,
			Effect: effect, Args: []byte(`{"command":"make"}`),
		}, Principal: "person", CreatedAt: 1}
		if err := g.store.Calls.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	put("began", "", protocol.CallRunning, protocol.EffectExec)
	put("waited", "", protocol.CallWaiting, protocol.EffectExec)
	put("read", "", protocol.CallRunning, protocol.EffectRead)
	put("of a run", "r", protocol.CallRunning, protocol.EffectExec)
	put("goes on", "", protocol.CallRunning, protocol.EffectWrite)
	g.restart(&tooltest.Machine{})
	if err := g.Recover(t.Context(), func(id protocol.CallID) bool { return id == "goes on" }); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[protocol.CallID]string{
		"began": protocol.CallUnknown, "waited": protocol.CallCancelled, "read": protocol.CallUnknown,
		"of a run": protocol.CallRunning, "goes on": protocol.CallRunning,
	} {
		c, err := g.store.Calls.Get(t.Context(), id)
		if err != nil || c.Info.State != want || c.Info.Over() && c.Info.Error == "" {
			t.Errorf("%s: got %+v, %v; want no error, Info.State %v and either not Info.Over or some Info.Error", id, c.Info, err, want)
		}
	}
	lines, _, err := g.store.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10})
	if err != nil || len(lines) != 2 || lines[0].What != "make" || lines[0].By != "person" {
		t.Errorf(`audit: got %+v, %v; want no error, length 2, lines[0].What "make" and lines[0].By "person"`, lines, err)
	}
}
