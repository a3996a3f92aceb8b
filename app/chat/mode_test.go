package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/conversation"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestTrustAndDayEndInAnIdleWindow(t *testing.T) {
	d := newDesk(t, 900, 600)
	trust := &protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: noon.Add(23 * time.Minute).UnixMilli()}
	d.Update(conversation.State{Session: protocol.SessionEntry{Settings: &protocol.SessionPrefs{Approvals: trust}}, Messages: []protocol.Message{user("1", "x")}})
	if !d.header.mode.Warn {
		t.Error("the trust is not shown in amber, although the chat asks nothing")
	}
	if got := d.header.mode.Text; got != "Trust, 23 min left" {
		t.Fatalf(`the header says %q, want "Trust, 23 min left"`, got)
	}
	redraws := widgettest.CountRedraws(t)
	for i := range 30 {
		d.Tick(noon.Add(time.Duration(i) * time.Second))
	}
	if *redraws != 0 {
		t.Errorf("redraws within a minute: got %d, want 0", *redraws)
	}
	d.Tick(noon.Add(time.Minute))
	if got := d.header.mode.Text; got != "Trust, 22 min left" || *redraws == 0 {
		t.Errorf("a minute later the header says %q, after %d redraws", got, *redraws)
	}
	d.Tick(noon.Add(24 * time.Minute))
	if got := d.header.mode.Text; got != "Ask" || d.header.mode.Warn {
		t.Errorf(`after the trust ended the header says %q; want "Ask"`, got)
	}
	d.Tick(noon.Add(13 * time.Hour))
	pagetest.Shows(t, d.Pane, "Yesterday")
}

// TestApprovalModeIsAlwaysShown: what the agent may do without asking is never out of sight. What
// does not fit beside it is in the menu.
func TestApprovalModeIsAlwaysShown(t *testing.T) {
	for _, c := range []struct {
		width, scale    float32
		model, thinking bool
	}{{1120, 1, true, true}, {1120, 1.5, true, true}, {480, 1, true, false}, {480, 1.5, false, false}} {
		t.Run(fmt.Sprintf("%v at %v", c.width, c.scale), func(t *testing.T) {
			d := newDesk(t, c.width, 600)
			fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, c.scale))
			d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k", Title: "Refactor the parser"}, Model: protocol.ModelRef{ID: "built-in operator"}})
			if h := d.header; !h.mode.Visible() || h.model.Visible() != c.model || h.thinking.Visible() != c.thinking || h.box.MinSize().Width > c.width {
				t.Errorf("mode %v, model %v, thinking %v, wants %v", h.mode.Visible(), h.model.Visible(), h.thinking.Visible(), h.box.MinSize().Width)
			}
			menu := ""
			for _, i := range d.header.menuItems() {
				menu += i.Label + " "
			}
			if strings.Contains(menu, "Model") == c.model || strings.Contains(menu, "Thinking") == c.thinking {
				t.Errorf("the menu has %s", menu)
			}
		})
	}
}

func TestMenuSaysWhyTrustIsNotAvailable(t *testing.T) {
	d := newDesk(t, 900, 600)
	d.Update(conversation.State{Nodes: []protocol.NodeInfo{{ID: "pi", Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Mode: "full"}}}}})
	last := ""
	for _, i := range d.header.modeMenu() {
		if strings.HasPrefix(i.Label, "Trust for") && !i.Disabled {
			t.Errorf("%q can be chosen where commands are not contained", i.Label)
		}
		last = i.Label
	}
	if want := "pi (its commands are not contained)"; !strings.Contains(last, want) {
		t.Errorf("got the last entry %q, want one with %q", last, want)
	}
}
