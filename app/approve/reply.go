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

// refuse denies the question, with the reason when one was written.
func (d *Dialog) refuse() {
	d.answer(state.Reply{Decision: protocol.DecisionDeny, Reason: strings.TrimSpace(d.reasonEntry.Text)})
}

// permit allows the question as the check boxes say.
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

// answer sends the answer to the question that is shown, and to those that ask the same when the person wants that. An allow that is not
// armed is no answer.
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

// snooze puts the question off without an answer.
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

// scopes are how an allow may go further than once. What makes a rule says so first.
func (d *Dialog) scopes() []*fyne.MenuItem {
	q := d.Current()
	var items []*fyne.MenuItem
	for _, c := range q.Choices {
		words := state.ScopeWords(q, c)
		switch c {
		case protocol.ScopeOnce, protocol.ScopeSession:
			if d.keyed { // no key alone allows
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
