package approve

import (
	"encoding/json"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// step is what the window does with the question that is shown.
type step int

const (
	asking  step = iota
	ruling       // a rule is made of it
	editing      // the call is changed before it runs
)

// extras are what an allow of this call may hold besides: the network for it, and an answer to the questions that ask the same.
func (d *Dialog) extras(q protocol.Approval) []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	if asks, offer := state.AsksNetwork(q); offer {
		text := "Let this command use the network, this once"
		if asks {
			text = "Let this command use the network, which it asks for"
		}
		d.network = d.check(text, asks, func(bool) { d.changed() })
		rows = append(rows, d.network)
	}
	rows = append(rows, d.folders(q)...)
	d.also = d.check("", false, func(bool) { d.changed() })
	d.others = len(state.Alike(d.queue, q)) - 1
	d.nameAlso()
	return append(rows, d.also)
}

// nameAlso offers to answer the questions that ask the same, where there are any.
func (d *Dialog) nameAlso() {
	text := "Answer the other one that asks exactly this, too"
	if d.others > 1 {
		text = fmt.Sprintf("Answer the %d others that ask exactly this, too", d.others)
	}
	d.also.SetText(text)
	setShown(d.also, d.others > 0)
}

// followAlike takes note of questions that ask the same and came, or went, while this one is shown. What an answer goes to is different then, so
// that it is to be looked at again.
func (d *Dialog) followAlike() {
	n := len(state.Alike(d.queue, d.Current())) - 1
	if d.also == nil || n == d.others {
		return
	}
	again := d.also.Checked || d.others == 0 || n == 0
	d.others = n
	d.nameAlso()
	if n == 0 {
		d.also.Checked = false
		d.also.Refresh()
	}
	if !again {
		return // no answer goes to them
	}
	d.changed()
	d.body.Refresh()
	d.grow()
}

// changedArgs are the call's arguments when the person wants other ones than were asked about. ok is false when nothing would be left of the call.
func (d *Dialog) changedArgs(q protocol.Approval) (args json.RawMessage, ok bool) {
	var err error
	if slices.Contains(d.keep, false) {
		if !slices.Contains(d.keep, true) {
			return nil, false
		}
		if args, err = state.PickHunks(q, d.keep); err != nil {
			return nil, false
		}
	}
	if asks, _ := state.AsksNetwork(q); d.network != nil && d.network.Checked != asks {
		if args, err = state.WithNetwork(q.Args, d.network.Checked); err != nil {
			return nil, false
		}
	}
	return args, true
}

// changed says on the buttons what an allow would do now, and lets Allow be armed anew.
func (d *Dialog) changed() {
	q := d.Current()
	args, ok := d.changedArgs(q)
	if args != nil || !ok {
		d.scope = protocol.ScopeOnce // a changed call runs once
	}
	d.nameButtons(q)
	setShown(d.allow.More, args == nil && ok && len(q.Choices) > 1)
	d.turns++
	d.rearm()
}

// nameButtons says on Deny and Allow how many questions they answer, and what an allow leaves out.
func (d *Dialog) nameButtons(q protocol.Approval) {
	allow, deny, extent := "Allow", "Deny", " once"
	if n := len(d.answered(q)); n > 1 {
		allow, deny = fmt.Sprintf("Allow all %d", n), fmt.Sprintf("Deny all %d", n)
	}
	if d.scope == protocol.ScopeSession {
		extent = " in this chat"
	}
	allow += extent
	switch n := len(d.access()); {
	case n == 1:
		allow += ", with the folder"
	case n > 1:
		allow += fmt.Sprintf(", with %d folders", n)
	}
	if n := count(d.keep, true); n < len(d.keep) {
		allow = fmt.Sprintf("Allow %d of %d parts", n, len(d.keep))
	}
	d.allow.Main.SetText(allow)
	d.deny.SetText(deny)
}

// answered are the questions that an answer to q is given to.
func (d *Dialog) answered(q protocol.Approval) []protocol.Approval {
	if d.step != editing && d.also != nil && d.also.Checked {
		return state.Alike(d.queue, q)
	}
	return []protocol.Approval{q}
}

// TogetherWithAlike has the answer given to all questions that ask exactly what the shown one does. They are seen by seeing it, and nothing is
// answered yet.
func (d *Dialog) TogetherWithAlike() {
	if d.step == asking && d.also != nil && d.others > 0 {
		d.also.SetChecked(true)
	}
}

func count(list []bool, want bool) (n int) {
	for _, b := range list {
		if b == want {
			n++
		}
	}
	return n
}

// rearm makes the person look again before anything is allowed.
func (d *Dialog) rearm() {
	d.allow.Disable()
	d.confirm.Disable()
	d.arm.Hide()
	d.seen()
	d.Tick(d.clock())
	d.box.Refresh()
}

// enter shows a step's content with its own buttons.
func (d *Dialog) enter(s step, content fyne.CanvasObject, confirm string, focus fyne.Focusable) {
	d.step = s
	d.put(content)
	d.confirm.SetText(confirm)
	setShown(d.foot, s == asking)
	setShown(d.stepFoot, s != asking)
	d.reasonRow.Hide()
	d.turns++
	d.rearm()
	d.canvas.Focus(focus)
}

// back leaves a step without having done anything.
func (d *Dialog) back() { d.show(d.at) }

// edit lets the person change the call before it runs.
func (d *Dialog) edit() {
	q := d.Current()
	name, text, ok := state.Editable(q)
	if !ok {
		return
	}
	e := newReasonEntry(d.key)
	e.onType = func() { d.arm.Key(d.clock()) }
	e.chords = true
	e.MultiLine, e.Wrapping = true, fyne.TextWrapBreak
	e.TextStyle.Monospace = true
	e.SetMinRowsVisible(10)
	e.SetText(text)
	hidden, _ := state.Reveal(text)
	rows := []fyne.CanvasObject{widgets.NewText(name, style.ColorMuted, style.SizeSmall), e}
	if hidden != text {
		rows = append(rows, warning("It holds characters that are not seen. Read them before you go on: "+hidden))
	}
	rows = append(rows, widgets.NewParagraph("It is checked again as you leave it here, and runs once. The agent is told what you changed.", style.ColorMuted, style.SizeSmall))
	d.editor = e
	d.enter(editing, widgets.Col(style.Inside, rows...), "Run this", e)
}

// done ends a step with its allow.
func (d *Dialog) done() {
	q := d.Current()
	switch d.step {
	case ruling:
		if len(d.rule.chosen) > 0 {
			d.answer(state.Reply{Decision: protocol.DecisionAllow, Scope: d.rule.scope, Offers: d.rule.chosen, Until: d.rule.until, Access: d.access()})
		}
	case editing:
		args, err := state.WithEdited(q, d.editor.Text)
		if err != nil {
			d.say("It cannot run like this: " + err.Error())
			return
		}
		d.answer(state.Reply{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce, Args: args, Access: d.access()})
	}
}

// columnLayout is a column whose rows change.
type columnLayout struct{}

func (columnLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	var h float32
	for _, x := range o {
		h += x.MinSize().Height + style.Gap
	}
	return fyne.NewSize(0, h)
}

func (columnLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, x := range o {
		h := widgets.Fit(x, size.Width)
		x.Move(fyne.NewPos(0, y))
		y += h + style.Gap
	}
}
