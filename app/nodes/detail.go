package nodes

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/confinement"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// detail is the page of one machine. Each part is redrawn only when it changes, so that the updates
// each second do not disturb focus and scroll position.
type detail struct {
	p   *Page
	id  protocol.NodeID
	log *code.Panel
	bar widgets.Actions

	summary, facts, colour, runs, forwards, details widgets.Body
	forwardRows                                     forwardRows
}

func newDetail(p *Page, id protocol.NodeID) *detail {
	d := &detail{p: p, id: id, log: code.NewPanel(320), forwardRows: forwardRows{of: p.forwards}}
	d.bar = widgets.NewActions(d.show)
	for _, part := range []*widgets.Body{&d.summary, &d.facts, &d.colour, &d.runs, &d.forwards, &d.details} {
		*part = widgets.NewBody()
	}
	d.log.SetLines(code.PlainLines("Loading…"))
	d.reload()
	return d
}

func (d *detail) reload() {
	bind.Go(d.p.ctx, func(ctx context.Context) (string, error) { return d.p.m.Logs(ctx, d.id) }, func(text string, err error) {
		switch {
		case err != nil:
			text = "The log could not be read: " + err.Error()
		case text == "":
			text = "The log is empty."
		}
		d.log.SetLines(code.PlainLines(text))
		d.log.Refresh()
	})
}

// show redraws changed parts; if the machine was forgotten, it shows the list.
func (d *detail) show() {
	p := d.p
	n, ok := p.view.Machines.Find(d.id)
	switch {
	case !ok && p.view.Status.Loaded:
		p.ShowList()
		return
	case !ok:
		p.Put(widgets.NewPage(string(d.id), widgets.NewLoading()))
		return
	}
	calls := p.view.Calls.On(d.id)
	ids := lists.Map(calls, func(c protocol.CallInfo) protocol.CallID { return c.CallID })
	drawn := p.Draw(fmt.Sprint("machine ", d.id, n.DisplayName()), func() fyne.CanvasObject { return d.page(n) })
	paired, _ := p.pairing.Machine(n)
	what := fmt.Sprint(n.Online, n.Terminals, n.Local, n.Device != "", paired.ID, paired.RevokedAt > 0)
	drawn = d.bar.DrawActions(what, func() fyne.CanvasObject { return d.actions(n) }) || drawn
	facts, details := pairedFacts(p.pairing, p.view, n, p.now())
	c := display.ConfinementOf(n)
	drawn = d.summary.Draw(c.Line+c.Level, func() fyne.CanvasObject { return confinement.Summary(c) }) || drawn
	drawn = d.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn
	drawn = d.colour.Draw("colour "+n.Colour, func() fyne.CanvasObject { return d.colours(n) }) || drawn
	drawn = d.runs.Draw(fmt.Sprint("calls", ids), func() fyne.CanvasObject { return d.running(calls) }) || drawn
	drawn = d.forwardRows.draw(&d.forwards, d.id) || drawn
	if d.details.Draw(fmt.Sprint(details, c), func() fyne.CanvasObject {
		return widgets.Col(style.Group, widgets.NewFacts(details), confinement.Guarantees(c))
	}) || drawn {
		p.Box.Refresh()
	}
}

func (d *detail) page(n protocol.NodeInfo) fyne.CanvasObject {
	log := widgets.NewSectionHeading("LOG", widgets.NewQuietButton("Reload", "reset", d.reload))
	// space for a field, which is higher than the buttons
	form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, d.bar.Box),
		d.summary.Box, d.facts.Box, d.runs.Box, d.forwards.Box, widgets.NewSectionHeading("COLOUR"), d.colour.Box,
		widgets.NewFold("Details", widgets.Col(style.Group, d.details.Box, log, d.log), d.p.Box.Refresh))
	d.log.SetForward(form.Scrolled)
	return widgets.NewPage(n.DisplayName(), form, widgets.NewQuietButton("All machines", "back", d.p.Leave))
}

// running lists the calls in progress on the machine, each with a button that stops it.
func (d *detail) running(calls []protocol.CallInfo) fyne.CanvasObject {
	p := d.p
	if len(calls) == 0 {
		d.runs.Box.Hide()
		return container.NewStack()
	}
	d.runs.Box.Show()
	rows := []fyne.CanvasObject{widgets.NewSectionHeading("RUNNING NOW")}
	for _, c := range calls {
		line, _ := wording.Reveal(question.CallLine(protocol.JournalEntry{Tool: c.Tool, Input: c.Args, Node: c.Node}, p.view.Machines.Name(c.Node)))
		text := widgets.NewText(line, style.ColorText, "text")
		text.Ellipsis = true
		rows = append(rows, widgets.Row(style.Inside, 1, widget.NewIcon(style.IconIn("terminal", style.ColorAccent)), text, widgets.NewQuietButton("Stop", "stop", func() {
			p.e.Run(p.ctx, "The call was not stopped", func(ctx context.Context) error { return p.m.StopCall(ctx, c.CallID) }, func() {})
		})))
	}
	return widgets.Col(style.Inside, rows...)
}

func (d *detail) actions(n protocol.NodeInfo) fyne.CanvasObject {
	p := d.p
	if d.bar.Editing {
		return d.bar.NameEditor(n.Name, string(n.ID), func(name string) { p.m.Rename(n.ID, name) })
	}
	var buttons []fyne.CanvasObject
	if n.Online {
		buttons = append(buttons, widgets.NewButton("Files", "folder", func() { p.e.Open(host.Files(n.ID)) }))
	}
	if n.Online && n.Terminals {
		buttons = append(buttons, widgets.NewButton("Terminal", "terminal", func() { p.e.Open(host.Terminal(n.ID)) }))
	}
	buttons = append(buttons, widgets.NewButton("Send files…", "transfer", func() { p.e.Open(host.SendFiles(n.ID)) }))
	if n.Online && (!n.Local || p.view.Status.Remote) {
		buttons = append(buttons, widgets.NewButton("Forward a port…", "plug", func() { p.forwards.openForm(n.ID) }))
	}
	buttons = append(buttons, widgets.NewButton("Rename", "edit", d.bar.Rename))
	if paired, ok := p.pairing.Machine(n); ok {
		buttons = append(buttons, expiry{p, &d.bar}.button(paired)...)
	}
	if !n.Local {
		end := widgets.Confirmation{Text: "Remove", Icon: "trash", Question: "Remove “" + n.DisplayName() + "” from the list?", Yes: "Remove", No: "Cancel"}
		if n.Device != "" {
			end = widgets.Confirmation{Text: "Revoke access", Icon: "trash", Question: "Revoke access for “" + n.DisplayName() + "”?", Yes: "Revoke", No: "Cancel"}
		}
		buttons = append(buttons, d.bar.ConfirmButton(end, func() {
			d.bar.Confirm("")
			p.e.Run(p.ctx, "The machine was not removed", func(ctx context.Context) error { return p.m.Forget(ctx, n) }, p.Update)
		}))
	}
	return widgets.Flow(style.Inside, buttons...)
}

// colours offers colours by name, for people who cannot distinguish them.
func (d *detail) colours(n protocol.NodeInfo) fyne.CanvasObject {
	var chips []fyne.CanvasObject
	pick := func(name, words string, icon fyne.CanvasObject) {
		text := widgets.NewText(words, style.ColorText, style.SizeSmall)
		var content fyne.CanvasObject = text
		if icon != nil {
			content = widgets.Row(style.Gap, -1, icon, text)
		}
		press := widgets.NewClickable(widgets.Inset(style.Gap, style.Inside, style.Gap, style.Inside, content), func() { d.p.m.SetColour(n.ID, name) })
		if name == n.Colour {
			press.SetBackground(style.ColorSelected)
		}
		chips = append(chips, press)
	}
	pick("", "automatic", nil)
	for _, name := range style.Choices {
		pick(name, name, widget.NewIcon(style.IconIn("online", style.ChoiceColor(name))))
	}
	return widgets.Flow(style.Gap, chips...)
}
