package nodes

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// detail is one machine.
type detail struct {
	p     *Page
	id    protocol.NodeID
	body  *fyne.Container
	log   *widgets.CodePanel
	sure  bool // forgetting was asked for once
	edit  bool // the name is to be changed
	field *nameField
	// editing: it is, and nothing is drawn until it was.
	editing bool
}

func newDetail(p *Page, id protocol.NodeID) *detail {
	d := &detail{p: p, id: id, body: container.NewStack(), log: widgets.NewCodePanel(320)}
	d.log.SetLines(widgets.PlainLines("Loading…"))
	d.reload()
	return d
}

// reload reads the machine's log.
func (d *detail) reload() {
	bind.Go(d.p.ctx, func(ctx context.Context) (string, error) { return d.p.app.Logs(ctx, d.id) }, func(text string, err error) {
		switch {
		case err != nil:
			text = "The log cannot be read: " + err.Error()
		case text == "":
			text = "The log is empty."
		}
		d.log.SetLines(widgets.PlainLines(text))
		d.log.Refresh()
	})
}

// show draws the machine when something about it is another; when it is forgotten, all of them.
func (d *detail) show() {
	p := d.p
	if d.edit && d.editing {
		return // not under the person's hands
	}
	d.editing = d.edit
	n, ok := p.view.Node(d.id)
	switch {
	case !ok && p.view.Loaded:
		p.Open("")
		return
	case !ok:
		p.Put(widgets.NewPage(string(d.id), widgets.NewLoading()))
		return
	}
	facts := state.FactsOf(n, p.now())
	calls := p.view.CallsOn(d.id)
	p.Draw(fmt.Sprint("machine ", d.id, facts, n.Colour, n.Name, len(calls), d.sure, d.edit, state.ConfinementOf(n)), func() fyne.CanvasObject {
		return d.draw(n, facts, calls)
	})
}

func (d *detail) draw(n protocol.NodeInfo, facts []state.MachineFact, calls []protocol.CallInfo) fyne.CanvasObject {
	p := d.p
	var known []fyne.CanvasObject
	for _, f := range facts {
		known = append(known, fact(f.Name, f.Text))
	}
	rows := []fyne.CanvasObject{d.actions(n), widgets.Col(look.Gap, known...)}
	rows = append(rows, widgets.NewPart("COLOUR"), d.colours(n))
	if len(calls) > 0 {
		rows = append(rows, widgets.NewPart("RUNS NOW"))
		for _, c := range calls {
			text := widgets.NewText(c.Tool+" "+string(c.Args), look.ColorText, "text")
			text.Ellipsis = true
			rows = append(rows, widgets.Row(look.Inside, 1, widget.NewIcon(look.IconIn("terminal", look.ColorAccent)), text, widgets.NewQuiet("Stop", "stop", func() {
				bind.Go(p.ctx, func(ctx context.Context) (protocol.Ack, error) {
					return state.Call(ctx, p.app, protocol.CallCancel, protocol.CallCancelParams{CallID: c.CallID})
				}, func(_ protocol.Ack, err error) {
					if err != nil {
						p.h.Say("It was not stopped: " + err.Error())
					}
				})
			})))
		}
	}
	rows = append(rows, widgets.NewPart("CONFINEMENT OF COMMANDS"), Confinement(state.ConfinementOf(n)),
		widgets.Row(look.Inside, 0, widgets.NewPart("LOG"), widgets.NewQuiet("Reload", "reset", d.reload)), d.log)
	return widgets.NewPage(state.NameOf(n), widgets.NewForm(rows...), widgets.NewQuiet("All machines", "back", func() { p.Open("") }))
}

// actions are what can be done with a machine.
func (d *detail) actions(n protocol.NodeInfo) fyne.CanvasObject {
	p := d.p
	if d.edit {
		name := newNameField()
		name.SetText(n.Name)
		name.SetPlaceHolder(string(n.ID))
		end := func(save bool) {
			d.edit = false
			if save {
				p.app.RenameMachine(n.ID, name.Text)
			}
			d.show()
		}
		name.OnSubmitted = func(string) { end(true) }
		name.leave = func() { end(false) }
		d.field = name
		// As high as the buttons that were there, so that nothing below moves.
		return widgets.Row(look.Inside, -1, widgets.Inset(-4, 0, -3, 0, container.New(fieldLayout{}, name)), widgets.NewButton("Save", "check", func() { end(true) }), widgets.NewQuiet("Cancel", "", func() { end(false) }))
	}
	var buttons []fyne.CanvasObject
	if p.h.Browse != nil && n.Online {
		buttons = append(buttons, widgets.NewButton("Files", "folder", func() { p.h.Browse(n.ID) }))
	}
	if p.h.Send != nil {
		buttons = append(buttons, widgets.NewButton("Send files…", "transfer", func() { p.h.Send(n.ID) }))
	}
	buttons = append(buttons, widgets.NewButton("Rename", "edit", d.rename))
	if !n.Local {
		text := "Forget"
		if n.Device != "" {
			text = "Revoke and forget"
		}
		forget := widgets.NewQuiet(text, "trash", nil)
		forget.OnTap = func() {
			if !d.sure {
				d.sure = true
				d.show()
				return
			}
			bind.Go(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.app.ForgetMachine(ctx, n) }, func(_ struct{}, err error) {
				d.sure = false
				if err != nil {
					p.h.Say("The machine was not forgotten: " + err.Error())
				}
				d.show()
			})
		}
		if d.sure {
			forget.Text, forget.Danger = "Really? Its connection ends", true
			buttons = append(buttons, forget, widgets.NewQuiet("Keep it", "", func() { d.sure = false; d.show() }))
		} else {
			buttons = append(buttons, forget)
		}
	}
	return widgets.Flow(look.Inside, buttons...)
}

// colours lets the person choose the machine's colour. Each has its name: never colour alone.
func (d *detail) colours(n protocol.NodeInfo) fyne.CanvasObject {
	var chips []fyne.CanvasObject
	pick := func(name, words string, icon fyne.CanvasObject) {
		text := widgets.NewText(words, look.ColorText, look.SizeSmall)
		var content fyne.CanvasObject = text
		if icon != nil {
			content = widgets.Row(look.Gap, -1, icon, text)
		}
		press := widgets.NewPress(widgets.Inset(look.Gap, look.Inside, look.Gap, look.Inside, content), func() { d.p.app.ColourMachine(n.ID, name) })
		if name == n.Colour {
			press.SetGround(look.ColorSelected)
		}
		chips = append(chips, press)
	}
	pick("", "by itself", nil)
	for _, name := range look.Choices {
		pick(name, name, widget.NewIcon(look.IconIn("online", look.ChoiceColor(name))))
	}
	return widgets.Flow(look.Gap, chips...)
}

// fact is a line: its name at the left, what it is at the right.
func fact(name, text string) fyne.CanvasObject {
	label := widgets.NewText(name, look.ColorMuted, "text")
	label.Ellipsis = true
	return container.New(factLayout{}, label, widgets.NewParagraph(text, look.ColorText, "text"))
}

// factLayout gives the names of facts one width.
type factLayout struct{}

func factWidth() float32 { return 128 * look.Size("text") / 14 }

func (factLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(factWidth()+m.Width, max(m.Height, o[0].MinSize().Height))
}

func (factLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(factWidth()-look.Inside, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(factWidth(), 0))
	widgets.Fit(o[1], max(size.Width-factWidth(), 0))
}
