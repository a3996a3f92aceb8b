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

// step is the dialog's current step for the approval.
type step int

const (
	asking  step = iota
	ruling       // creating a rule from it
	editing      // editing the call before it runs
)

// extras are the options of Allow for this call: network access, and answering identical approvals.
func (d *Dialog) extras(q protocol.Approval) []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	if asks, offer := state.AsksNetwork(q); offer {
		text := "Allow network access for this command"
		if asks {
			text = "Allow network access, which this command requests"
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

// nameAlso offers to answer identical approvals, if there are any.
func (d *Dialog) nameAlso() {
	text := "Apply to the identical approval, too"
	if d.others > 1 {
		text = fmt.Sprintf("Apply to the %d identical approvals, too", d.others)
	}
	d.also.SetText(text)
	setShown(d.also, d.others > 0)
}

// followAlike updates the number of identical approvals while this one is shown. Since the answer's
// extent changes with it, Allow must be armed again.
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
		return // the answer does not include them
	}
	d.changed()
	d.body.Refresh()
	d.grow()
}

// changedArgs returns the call's arguments if the person changed them. ok is false if nothing of
// the call would be left.
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

// changed updates the buttons' texts to the effect of Allow, and starts arming again.
func (d *Dialog) changed() {
	q := d.Current()
	args, ok := d.changedArgs(q)
	if args != nil || !ok {
		d.scope = protocol.ScopeOnce // a changed call is allowed once only
	}
	d.nameButtons(q)
	setShown(d.allow.More, args == nil && ok && len(q.Choices) > 1)
	d.turns++
	d.rearm()
}

// nameButtons shows on Deny and Allow how many approvals they answer, and what Allow leaves out.
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
		allow += " with folder access"
	case n > 1:
		allow += fmt.Sprintf(" with access to %d folders", n)
	}
	if n := count(d.keep, true); n < len(d.keep) {
		allow = fmt.Sprintf("Allow %d of %d parts", n, len(d.keep))
	}
	d.allow.Main.SetText(allow)
	d.deny.SetText(deny)
}

// answered returns the approvals that an answer to q includes.
func (d *Dialog) answered(q protocol.Approval) []protocol.Approval {
	if d.step != editing && d.also != nil && d.also.Checked {
		return state.Alike(d.queue, q)
	}
	return []protocol.Approval{q}
}

// TogetherWithAlike selects that the answer applies to all identical approvals. Seeing one counts
// as seeing all; nothing is answered yet.
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

// rearm starts arming again, so that the person looks again before allowing.
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

// back leaves a step without changes.
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
		rows = append(rows, warning("It contains invisible characters. Check them before you continue: "+hidden))
	}
	rows = append(rows, widgets.NewParagraph("Your version is checked again and runs once. The agent sees what you changed.", style.ColorMuted, style.SizeSmall))
	d.editor = e
	d.enter(editing, widgets.Col(style.Inside, rows...), "Run this", e)
}

// done completes a step with its allow.
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
			d.say("This cannot run: " + err.Error())
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
