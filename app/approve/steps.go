package approve

import (
	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// enterStep shows a step's content with its own buttons.
func (d *Dialog) enterStep(s step, content fyne.CanvasObject, confirm string, focus fyne.Focusable) {
	d.step = s
	d.frame.setContent(content)
	d.frame.confirm.SetText(confirm)
	d.frame.questionRow.Hide()
	d.frame.stepRow.Show()
	d.frame.reasonRow.Hide()
	d.effectChanged()
	d.canvas.Focus(focus)
}

// leaveStep returns to the question without changes.
func (d *Dialog) leaveStep() { d.show(d.queue.index) }

// finishStep completes a step with its allow.
func (d *Dialog) finishStep() {
	r := state.Reply{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce, Access: d.options.folderAccess()}
	switch d.step {
	case ruling:
		if len(d.rule.selected) > 0 {
			r.Scope, r.Offers, r.Until = d.rule.scope, d.rule.selected, d.rule.until
			d.answer(r)
		}
	case editing:
		args, err := state.WithEdited(d.Current(), d.editor.Text)
		if err != nil {
			d.frame.setNotice("This cannot run: " + err.Error())
			return
		}
		r.Args = args
		d.answer(r)
	}
}

// startEdit lets the person edit the call before it runs.
func (d *Dialog) startEdit() {
	name, text, ok := state.Editable(d.Current())
	if !ok {
		return
	}
	e := newTextEntry(d.keys.handle, d.arming.keyPressed)
	e.passesShortcuts = true
	e.MultiLine, e.Wrapping = true, fyne.TextWrapBreak
	e.TextStyle.Monospace = true
	e.SetMinRowsVisible(10)
	e.SetText(text)
	rows := []fyne.CanvasObject{widgets.NewText(name, style.ColorMuted, style.SizeSmall), e}
	if revealed, _ := state.Reveal(text); revealed != text {
		rows = append(rows, warning("It contains invisible characters. Check them before you continue: "+revealed))
	}
	rows = append(rows, widgets.NewParagraph("Your version is checked again and runs once. The agent sees what you changed.", style.ColorMuted, style.SizeSmall))
	d.editor = e
	d.enterStep(editing, widgets.Col(style.Inside, rows...), "Run this", e)
}
