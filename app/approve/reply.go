package approve

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

func (d *Dialog) askReason() {
	d.reasonRow.Show()
	d.box.Refresh()
	d.grow()
	d.canvas.Focus(d.reasonEntry)
}

// refuse denies the approval, with the reason if one was typed.
func (d *Dialog) refuse() {
	d.answer(state.Reply{Decision: protocol.DecisionDeny, Reason: strings.TrimSpace(d.reasonEntry.Text)})
}

// permit allows the approval with the options of the check boxes.
func (d *Dialog) permit(scope string) {
	if d.step != asking {
		return
	}
	args, ok := d.changedArgs(d.Current())
	if !ok || args != nil && scope != protocol.ScopeOnce {
		return
	}
	d.answer(state.Reply{Decision: protocol.DecisionAllow, Scope: scope, Args: args, Access: d.access()})
}

// answer sends the answer for the current approval, and for the identical ones if the person chose
// that. It ignores an allow while Allow is not armed.
func (d *Dialog) answer(r state.Reply) {
	q := d.Current()
	if q.ID == "" {
		return
	}
	if r.Decision == protocol.DecisionAllow {
		if ok, _ := d.arm.Armed(d.clock()); !ok {
			return
		}
	}
	all := d.answered(q)
	d.queue = slices.DeleteFunc(slices.Clone(d.queue), func(x protocol.Approval) bool {
		return slices.ContainsFunc(all, func(y protocol.Approval) bool { return x.ID == y.ID })
	})
	d.h.Answer(all, r)
	d.turns++
	d.arm.Hide()
	if len(d.queue) > 0 {
		d.show(min(d.at, len(d.queue)-1))
	}
}

// snooze snoozes the approval.
func (d *Dialog) snooze() {
	q := d.Current()
	if q.ID == "" || d.h.Snooze == nil {
		return
	}
	d.queue = slices.DeleteFunc(slices.Clone(d.queue), func(x protocol.Approval) bool { return x.ID == q.ID })
	d.arm.Hide()
	d.h.Snooze(q)
	if len(d.queue) > 0 {
		d.show(min(d.at, len(d.queue)-1))
	}
}

// scopes returns the scopes of Allow beyond once. Those that create a rule show it first.
func (d *Dialog) scopes() []*fyne.MenuItem {
	q := d.Current()
	var items []*fyne.MenuItem
	for _, c := range q.Choices {
		words := state.ScopeWords(q, c)
		switch c {
		case protocol.ScopeOnce, protocol.ScopeSession:
			if d.keyed { // a single key never allows
				items = append(items, fyne.NewMenuItem(words, func() { d.further(c) }))
				continue
			}
			items = append(items, fyne.NewMenuItem(words, func() { d.permit(c) }))
		default:
			items = append(items, fyne.NewMenuItem(words, func() { d.makeRule(c) }))
		}
	}
	return items
}
