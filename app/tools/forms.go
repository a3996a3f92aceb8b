package tools

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// openForm shows a form. leave is what Back and Cancel do.
func (p *Page) openForm(title string, leave func(), m message, buttons fyne.CanvasObject, rows ...fyne.CanvasObject) {
	p.Show(widgets.Detail{Back: func() bool {
		leave()
		return true
	}})
	p.Put(widgets.NewPage(title, widgets.NewInputForm(m.Paragraph, buttons, rows...)))
}

// runner chooses the machine that runs a server's command.
type runner struct {
	*widgets.Select
	choices []runnerChoice
}

func newRunner(v feed.View, now protocol.NodeID) *runner {
	r := &runner{choices: runnerChoices(v, now)}
	r.Select = widgets.NewSelect(lists.Map(r.choices, func(c runnerChoice) string { return c.Text }), nil)
	r.SetSelectedIndex(0)
	for i, c := range r.choices {
		if c.Node == now {
			r.SetSelectedIndex(i)
		}
	}
	return r
}

func (r *runner) node() protocol.NodeID { return r.choices[max(r.SelectedIndex(), 0)].Node }

// newNetwork makes the choice whether a server's command may use the network.
func newNetwork(now string) *widgets.Select {
	s := widgets.NewSelect(lists.Map(networkChoices, func(c networkChoice) string { return c.Text }), nil)
	s.SetSelectedIndex(networkIndex(now))
	return s
}

// networkOf returns the value that the person chose.
func networkOf(s *widgets.Select) string {
	return networkChoices[max(s.SelectedIndex(), 0)].Value
}

// message is the line of a form that says what is wrong.
type message struct {
	*widgets.Paragraph
	p *Page
}

func newMessage(p *Page) message {
	m := message{widgets.NewParagraph("", style.ColorBad, "text"), p}
	m.Hide()
	return m
}

func (m message) say(text string) {
	m.Set(text, style.ColorBad)
	widgets.SetVisible(m.Paragraph, text != "")
	m.p.LayOutText()
}

// settingsForm changes the settings of a server.
type settingsForm struct {
	p       *Page
	server  protocol.ServerStatus
	f       settings
	draft   unsaved.Draft[settings]
	message message
	save    *widgets.Button
}

func (p *Page) openSettings(s protocol.ServerStatus) {
	draft, f := unsaved.Open(p.e.Drafts, "settings of "+string(s.Name), settingsOf(s.Spec))
	m := &settingsForm{p: p, server: s, f: f, draft: draft, message: newMessage(p)}
	m.save = widgets.NewButton("Save and restart", "check", m.submit)
	m.save.Primary = true
	first, rows := m.rows()
	leave := func() { p.open(s.Name) }
	line := widgets.NewDraftLine(draft.IsRestored, draft.Discarding(func() { p.openSettings(s) }))
	buttons := widgets.Row(style.Inside, -1, m.save, widgets.NewQuietButton("Cancel", "", draft.Discarding(leave)))
	p.openForm("Settings of “"+string(s.Name)+"”", leave, m.message, buttons, append([]fyne.CanvasObject{line}, rows...)...)
	widgets.FocusIn(p.Box, first)
}

// rows returns the fields, and the one to focus first.
func (m *settingsForm) rows() (first *widgets.Entry, rows []fyne.CanvasObject) {
	f := &m.f
	secrets := widgets.NewParagraph(protocol.MaskedSecret+" stands for a stored secret. Leave it to keep the secret, or replace it.", style.ColorMuted, style.SizeSmall)
	if m.server.Spec.URL != "" {
		first = m.line(&f.URL)
		return first, []fyne.CanvasObject{widgets.NewField("Address", first), widgets.NewField("Headers, one a line", m.area(&f.Headers, "Authorization: Bearer …"), secrets)}
	}
	run, network := newRunner(m.p.view, f.Node), newNetwork(f.Network)
	run.OnChanged = func(string) {
		f.Node = run.node()
		m.draft.Save(m.f)
	}
	network.OnChanged = func(string) {
		f.Network = networkOf(network)
		m.draft.Save(m.f)
	}
	first = m.line(&f.Command)
	return first, []fyne.CanvasObject{
		widgets.NewField("Runs on", widgets.LimitWidth(320, true, run.Select)), widgets.NewField("May use the network", widgets.LimitWidth(320, true, network)),
		widgets.NewField("Command", first),
		widgets.NewField("Arguments, one a line", m.area(&f.Args, "")),
		widgets.NewField("Variables, one a line", m.area(&f.Env, "NAME=value"), secrets), widgets.NewField("Folder (optional)", m.line(&f.Cwd)),
	}
}

func (m *settingsForm) line(text *string) *widgets.Entry {
	e := widgets.NewEntry()
	e.SetText(*text)
	e.OnChanged = m.change(text)
	e.OnSubmitted = func(string) { m.submit() }
	return e
}

func (m *settingsForm) area(text *string, hint string) fyne.CanvasObject {
	e := widgets.NewTextArea(3, hint)
	e.SetText(*text)
	e.OnChanged = m.change(text)
	return e
}

func (m *settingsForm) change(text *string) func(string) {
	return func(now string) {
		*text = now
		m.draft.Save(m.f)
	}
}

func (m *settingsForm) submit() {
	p, s := m.p, m.server
	spec, problem := m.f.Spec(s.Spec)
	if problem != "" {
		m.message.say(problem)
		return
	}
	m.save.Disable()
	bind.Run(p.ctx, m.draft.Saving(func(ctx context.Context) error { return p.m.Set(ctx, s.Name, spec) }), func(err error) {
		m.save.Enable()
		if err != nil {
			m.message.say("The settings were not saved: " + feed.Sentence(err))
			return
		}
		m.draft.Drop()
		p.m.Load()
		p.open(s.Name)
	})
}
