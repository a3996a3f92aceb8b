package services

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Kinds of a service, as forms offer them.
const (
	webApp    = "Web app"
	aTerminal = "Terminal with a command"
	aShell    = "Terminal with a shell"
)

// content is what a service shows.
type content struct {
	kind, target, command, username, workdir string
}

// contentOf returns what a published service shows.
func contentOf(s protocol.Service) content {
	t := s.Terminal
	switch {
	case t == nil:
		return content{kind: webApp, target: s.Target}
	case t.Command == "":
		return content{kind: aShell, username: t.Username, workdir: t.Workdir}
	}
	return content{aTerminal, "", t.Command, t.Username, t.Workdir}
}

func (c content) isTerminal() bool { return c.kind != webApp }

// problem says which field is missing; empty if none is.
func (c content) problem() string {
	switch {
	case c.kind == webApp && c.target == "":
		return "Enter the port or the address of the app, such as 3000."
	case c.kind == aTerminal && c.command == "":
		return "Enter the command that the terminal runs, or choose a shell."
	}
	return ""
}

// contentFields ask what a service shows.
type contentFields struct {
	kind      *widgets.Select
	target    *targetField
	command   *widgets.Entry
	username  *widgets.Entry
	workdir   *widgets.Entry
	app, line fyne.CanvasObject // the fields of an app, and of a command
	user      fyne.CanvasObject // the fields of a terminal
	changed   func()
}

// newContentFields returns fields with a content. changed is called when the person changes it.
func newContentFields(p *Page, c content, machine func() string, changed, submit func()) *contentFields {
	f := &contentFields{kind: widgets.NewSelect([]string{webApp, aTerminal, aShell}, nil), changed: changed}
	f.target = newTargetField(p, c.target, machine, changed)
	f.target.entry.OnSubmitted = func(string) { submit() }
	f.app = f.target.box()
	entry := func(text, placeHolder string) *widgets.Entry {
		e := widgets.NewEntry()
		e.SetPlaceHolder(placeHolder)
		e.SetText(text)
		e.OnChanged = func(string) { changed() }
		e.OnSubmitted = func(string) { submit() }
		return e
	}
	f.command, f.username, f.workdir = entry(c.command, "htop"), entry(c.username, "the user that started Fairlead there"), entry(c.workdir, "the user's own folder")
	limit := func(e *widgets.Entry) fyne.CanvasObject { return widgets.LimitWidth(420, true, e) }
	f.line = widgets.NewField("Command", limit(f.command))
	f.user = widgets.Col(style.Group, widgets.NewField("User (optional)", limit(f.username)), widgets.NewField("Folder (optional)", limit(f.workdir)))
	f.kind.SetSelected(webApp)
	f.kind.SetSelected(c.kind)
	f.show()
	f.kind.OnChanged = func(string) {
		f.show()
		changed()
	}
	return f
}

func (f *contentFields) rows() []fyne.CanvasObject {
	return []fyne.CanvasObject{widgets.NewField("What", widgets.LimitWidth(320, true, f.kind)), f.app, f.line, f.user}
}

// show shows the fields that belong to the kind.
func (f *contentFields) show() {
	kind := f.kind.Selected
	widgets.SetVisible(f.app, kind == webApp)
	widgets.SetVisible(f.line, kind == aTerminal)
	widgets.SetVisible(f.user, kind != webApp)
}

// content returns what the fields contain, without those of other kinds.
func (f *contentFields) content() content {
	c := content{kind: f.kind.Selected}
	switch c.kind {
	case webApp:
		c.target = f.target.entry.Text
	case aTerminal:
		c.command = f.command.Text
	}
	if c.isTerminal() {
		c.username, c.workdir = f.username.Text, f.workdir.Text
	}
	return c
}

// first returns the field to begin with.
func (f *contentFields) first() *widgets.Entry {
	switch f.kind.Selected {
	case webApp:
		return f.target.entry
	case aTerminal:
		return f.command
	}
	return f.username
}
