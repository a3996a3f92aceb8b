package settings

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
)

// keepDraft restores what the person left in fields, which show the saved texts, and retains what
// they type. It returns the line about a restored draft, and the draft.
func keepDraft(drafts *unsaved.Store, form string, fields ...*widgets.Entry) (line fyne.CanvasObject, draft unsaved.Draft[[]string]) {
	texts := func() []string { return lists.Map(fields, func(e *widgets.Entry) string { return e.Text }) }
	fill := func(texts []string) {
		for i, e := range fields {
			e.SetText(texts[i])
		}
	}
	saved := texts()
	draft, left := unsaved.Open(drafts, form, saved)
	fill(left)
	line = widgets.NewDraftLine(draft.IsRestored, func() {
		fill(saved) // and drops the draft
		line.Hide()
	})
	for _, e := range fields {
		before := e.OnChanged
		e.OnChanged = func(text string) {
			widgets.CallWith(before, text)
			if now := texts(); !slices.Equal(now, saved) {
				draft.Save(now)
			} else {
				draft.Drop()
				line.Hide()
			}
		}
	}
	return line, draft
}

// pairingDraft is the content of the form for a pairing.
type pairingDraft struct {
	invitation, address, name string
	asMachine                 bool
}

// fill replaces the content of the form.
func (e *gatewaysPage) fill(d pairingDraft) {
	e.address.SetText(d.address)
	e.name.SetText(d.name)
	e.invitation.SetText(d.invitation)
	e.setRole(d.asMachine) // and saves the draft
}

func (e *gatewaysPage) saveDraft() {
	now := pairingDraft{e.invitation.Text, e.address.Text, e.name.Text, e.asMachine}
	if now == (pairingDraft{asMachine: e.asMachine}) {
		e.draftLine.Hide()
		now = pairingDraft{} // the choice alone is no draft
	}
	e.draft.Save(now)
}
