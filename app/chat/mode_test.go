package chat

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestATrustAndADayEndInAWindowWhereNothingHappens(t *testing.T) {
	d := newDesk(t, 900, 600)
	trust := &protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: noon.Add(time.Minute).UnixMilli()}
	d.Update(State{Session: protocol.SessionEntry{Settings: &protocol.SessionPrefs{Approvals: trust}}, Messages: []protocol.Message{user("1", "x")}})
	if got := d.header.mode.Text; !strings.HasPrefix(got, "trusted until") {
		t.Fatalf("the header says %q", got)
	}
	d.Tick(noon.Add(2 * time.Minute))
	if got := d.header.mode.Text; got != "ask" {
		t.Errorf("after the trust ended the header says %q", got)
	}
	d.Tick(noon.Add(13 * time.Hour))
	if got := lines(d.transcript.Items()); !strings.Contains(got, "-- Yesterday") {
		t.Errorf("after midnight:\n%s", got)
	}
}
