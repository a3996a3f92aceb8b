package tools

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// openForm shows a form. close is what Back and Cancel do.
func (p *Page) openForm(title string, close func(), rows ...fyne.CanvasObject) {
	p.detail, p.form = nil, close
	p.Put(widgets.NewPage(title, widgets.NewForm(rows...)))
}

// runner chooses the machine that runs a server's command.
type runner struct {
	*widgets.Select
	choices []state.RunnerChoice
}

func newRunner(v state.View, now protocol.NodeID) *runner {
	r := &runner{choices: state.RunnerChoices(v, now)}
	r.Select = widgets.NewSelect(state.Map(r.choices, func(c state.RunnerChoice) string { return c.Text }), nil)
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
	s := widgets.NewSelect(state.Map(state.NetworkChoices, func(c state.NetworkChoice) string { return c.Text }), nil)
	s.SetSelectedIndex(state.NetworkIndex(now))
	return s
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

// openSettings shows the form for the settings of a server.
func (p *Page) openSettings(s protocol.ServerStatus) {
	f, m := state.FormOfServer(s.Spec), newMessage(p)
	run, network := newRunner(p.view, s.Spec.Node), newNetwork(s.Spec.Network)
	var save *widgets.Button
	submit := func() {
		f.Node, f.Network = run.node(), state.NetworkChoices[max(network.SelectedIndex(), 0)].Value
		spec, problem := f.Spec(s.Spec)
		if problem != "" {
			m.say(problem)
			return
		}
		save.Disable()
		bind.Run(p.ctx, func(ctx context.Context) error { return p.app.Servers.Set(ctx, s.Name, spec) }, func(err error) {
			save.Enable()
			if err != nil {
				m.say("The settings were not saved: " + state.Sentence(err))
				return
			}
			p.app.Servers.Load()
			p.open(s.Name)
		})
	}
	line := func(text *string) *widgets.Entry {
		e := widgets.NewEntry()
		e.SetText(*text)
		e.OnChanged = func(now string) { *text = now }
		e.OnSubmitted = func(string) { submit() }
		return e
	}
	area := func(text *string, hint string) fyne.CanvasObject {
		e := widgets.NewTextArea(3, hint)
		e.SetText(*text)
		e.OnChanged = func(now string) { *text = now }
		return e
	}
	save = widgets.NewButton("Save and restart", "check", submit)
	save.Primary = true
	secrets := widgets.NewParagraph(protocol.MaskedSecret+" stands for a stored secret. Leave it to keep the secret, or replace it.", style.ColorMuted, style.SizeSmall)
	var first *widgets.Entry
	var rows []fyne.CanvasObject
	if s.Spec.URL != "" {
		first = line(&f.URL)
		rows = []fyne.CanvasObject{widgets.NewField("Address", first), widgets.NewField("Headers, one a line", area(&f.Headers, "Authorization: Bearer …"), secrets)}
	} else {
		first = line(&f.Command)
		rows = []fyne.CanvasObject{
			widgets.NewField("Runs on", widgets.LimitWidth(320, true, run.Select)), widgets.NewField("May use the network", widgets.LimitWidth(320, true, network)),
			widgets.NewField("Command", first),
			widgets.NewField("Arguments, one a line", area(&f.Args, "")),
			widgets.NewField("Variables, one a line", area(&f.Env, "NAME=value"), secrets), widgets.NewField("Folder (optional)", line(&f.Cwd)),
		}
	}
	cancel := func() { p.open(s.Name) }
	rows = append(rows, m.Paragraph, widgets.Row(style.Inside, -1, save, widgets.NewQuietButton("Cancel", "", cancel)))
	p.openForm("Settings of “"+string(s.Name)+"”", cancel, rows...)
	widgets.FocusIn(p.Box, first)
}
