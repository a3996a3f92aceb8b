package settings

import (
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/doctor"
	"fairlead/gateway/protocol"
)

func TestTheCheckUpUsesWhatTheWindowsKnow(t *testing.T) {
	t.Parallel()
	a := feed.New()
	states := func() (text string) {
		for _, f := range checkUp(t.Context(), a, "", "1") {
			text += f.Check + " " + f.State + "; "
		}
		return text
	}
	if got, want := states(), "gateway bad; "; got != want {
		t.Errorf("without a connection: got %q, want %q", got, want)
	}
	a.Update(func(v *feed.View) {
		*v = feed.View{Status: feed.Status{Connected: true, Loaded: true, Status: protocol.Status{Version: "1", Model: protocol.ModelRef{Provider: "operator"}}}, Machines: []protocol.NodeInfo{{ID: "box", Online: true}}}
	}, a.All()...)
	if got, want := states(), "gateway ok; database ok; machine box ok; model ok; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheReportHasEveryFindingWithItsFix(t *testing.T) {
	t.Parallel()
	got := checkUpReport("Fairlead 1", []doctor.Finding{{Check: "agent", State: doctor.Warning, Found: "paused", Fix: "resume it"}, {Check: "database", State: doctor.OK, Found: "writable"}})
	if want := "Fairlead 1\n! agent: paused\n  → resume it\n✓ database: writable\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
