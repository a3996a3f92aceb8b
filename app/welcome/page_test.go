package welcome

import (
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// newTestPage returns a page in a window as wide as beside the sidebar.
func newTestPage(t *testing.T) (*Page, *pagetest.Host, fyne.Canvas) {
	t.Helper()
	ctx, _ := pagetest.Start(t, style.Light)
	h, w := &pagetest.Host{}, pagetest.Window(t, container.NewStack(), 880, 760)
	p := New(ctx, h, nil, func() {})
	w.SetContent(p.Box)
	return p, h, w.Canvas()
}

func TestFirstPageMatchesGolden(t *testing.T) {
	p, _, _ := newTestPage(t)
	golden.Markup(t, "first", p.Box)
	p.showText("None of them is running.", "muted", p.searchAgain, p.getModel)
	golden.Markup(t, "first-none", p.Box)
}

func TestFirstPageLeadsToModelsForThisComputer(t *testing.T) {
	for _, servers := range [][]protocol.DetectedServer{nil, {{Provider: "ollama", Name: "Ollama", State: "ready"}}} {
		p, h, _ := newTestPage(t)
		p.show(servers, nil)
		test.Tap(pagetest.Button(t, p.Box, "Get a model for this computer"))
		if got, want := strings.Join(h.Did, "; "), "page Models"; got != want {
			t.Errorf("with %d servers the button opens %q, want %q", len(servers), got, want)
		}
	}
}

func TestLookingAgainForServersKeepsTheKeyboard(t *testing.T) {
	p, _, c := newTestPage(t)
	p.show(nil, nil)
	if c.Focused() == fyne.Focusable(p.searchAgain) {
		t.Error("it takes the keyboard by itself")
	}
	c.Focus(p.searchAgain)
	p.searching = true
	p.showText("Searching for model servers…", "muted", p.searchAgain)
	p.show(nil, errors.New("no network"))
	if c.Focused() != fyne.Focusable(p.searchAgain) {
		t.Errorf("after it failed, %T has the keyboard, want %T", c.Focused(), fyne.Focusable(p.searchAgain))
	}
	p.show([]protocol.DetectedServer{{Name: "Ollama", BaseURL: "http://127.0.0.1:11434"}}, nil)
	if got, ok := c.Focused().(*widgets.Button); !ok || got.Text != "Use Ollama" {
		t.Errorf("with a server, %v has the keyboard", c.Focused())
	}
	p.show(nil, nil)
	if c.Focused() != fyne.Focusable(p.searchAgain) {
		t.Errorf("with none again, %T has the keyboard", c.Focused())
	}
}
