package approve

import (
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// askReason shows the field for a reason to deny.
func (d *Dialog) askReason() {
	d.frame.reasonRow.Show()
	d.frame.box.Refresh()
	d.frame.grow()
	d.canvas.Focus(d.frame.reason)
}

// deny denies the approval, with the reason if one was typed.
func (d *Dialog) deny() {
	d.answer(state.Reply{Decision: protocol.DecisionDeny, Reason: strings.TrimSpace(d.frame.reason.Text)})
}

// allow allows the approval with the options of the check boxes.
func (d *Dialog) allow(scope string) {
	if d.step != asking {
		return
	}
	args, ok := d.options.args()
	if !ok || args != nil && scope != protocol.ScopeOnce {
		return
	}
	d.answer(state.Reply{Decision: protocol.DecisionAllow, Scope: scope, Args: args, Access: d.options.folderAccess()})
}

// answered returns the approvals that an answer includes.
func (d *Dialog) answered() []protocol.Approval {
	if d.step != editing && d.options.includesIdentical() {
		return d.queue.identical()
	}
	return []protocol.Approval{d.Current()}
}

// answer sends the answer for the current approval, and for the identical ones if the person chose
// that. It ignores an allow while Allow is not armed.
func (d *Dialog) answer(r state.Reply) {
	if d.Current().ID == "" || r.Decision == protocol.DecisionAllow && !d.arming.isArmed() {
		return
	}
	all := d.answered()
	d.queue.remove(all...)
	d.handlers.Answer(all, r)
	d.arming.revision++
	d.showNext()
}

// snooze snoozes the approval.
func (d *Dialog) snooze() {
	q := d.Current()
	if q.ID == "" || d.handlers.Snooze == nil {
		return
	}
	d.queue.remove(q)
	d.arming.Hide()
	d.handlers.Snooze(q)
	d.showNext()
}

// showNext shows the approval after one that was removed.
func (d *Dialog) showNext() {
	d.arming.Hide()
	if n := len(d.queue.list); n > 0 {
		d.show(min(d.queue.index, n-1))
	}
}

// scopeMenu offers the scopes of Allow beyond once. Those that create a rule show it first.
func (d *Dialog) scopeMenu() []*fyne.MenuItem {
	q := d.Current()
	var items []*fyne.MenuItem
	for _, scope := range q.Choices {
		act := func() { d.allow(scope) }
		switch {
		case scope != protocol.ScopeOnce && scope != protocol.ScopeSession:
			act = func() { d.startRule(scope) }
		case d.keys.openedMenu: // a single key never allows
			act = func() { d.chooseScope(scope) }
		}
		items = append(items, fyne.NewMenuItem(state.ScopeWords(q, scope), act))
	}
	return items
}

// chooseScope sets the scope of Allow that was chosen by keyboard, and shows it; Ctrl+Shift+Enter
// then allows.
func (d *Dialog) chooseScope(scope string) {
	d.options.scope = scope
	d.nameButtons()
	d.frame.setNotice(state.ScopeWords(d.Current(), scope) + ". Press " + allowKeys() + " to allow.")
	d.effectChanged()
}

// optionsChanged updates the buttons to the effect of Allow.
func (d *Dialog) optionsChanged() {
	args, ok := d.options.args()
	if args != nil || !ok {
		d.options.scope = protocol.ScopeOnce // a changed call is allowed once only
	}
	d.nameButtons()
	widgets.SetVisible(d.frame.allow.More, args == nil && ok && len(d.Current().Choices) > 1)
	d.effectChanged()
}

// effectChanged starts arming again after a change of what Allow would do.
func (d *Dialog) effectChanged() {
	d.arming.revision++
	d.rearm()
}

func (d *Dialog) nameButtons() {
	allow, deny := d.options.buttonTexts(len(d.answered()))
	d.frame.allow.Main.SetText(allow)
	d.frame.deny.SetText(deny)
}
