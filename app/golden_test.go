package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/golden"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

func TestMainViewsLookAsTheyDid(t *testing.T) {
	s := newTestShell(t)
	s.window.Resize(fyne.NewSize(1120, 760))
	s.update(sample())
	golden.Markup(t, "sidebar", s.sidebar.box)
	s.sidebar.query, s.sidebar.found = "nas", []protocol.SessionEntry{{SessionKey: "agent:main:2", Title: "Photos on the NAS"}}
	s.update(sample())
	golden.Markup(t, "sidebar-search", s.sidebar.box)
	s.sidebar.query, s.sidebar.found, s.sidebar.looked = "nothing like it", nil, true
	s.update(sample())
	golden.Markup(t, "sidebar-nothing-found", s.sidebar.box)
	s.sidebar.query = ""
	s.update(state.View{})
	golden.Markup(t, "sidebar-empty", s.sidebar.box)

	s.update(sample())
	s.window.Resize(fyne.NewSize(500, 700))
	s.toggleDrawer()
	golden.Markup(t, "drawer", s.drawer)
}

func TestFirstPageLooksAsItDid(t *testing.T) {
	s := newTestShell(t)
	s.window.Resize(fyne.NewSize(1120, 760))
	s.setFirstRun(true)
	golden.Markup(t, "first", s.first.box)
	s.first.say("None runs right now.", "muted")
	golden.Markup(t, "first-none", s.first.box)
}
