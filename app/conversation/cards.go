package conversation

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// cardRows creates the rows of tool calls.
type cardRows struct {
	chat    *shown
	list    *transcript.View
	choices *choices
	actions *callActions
}

func (r *cardRows) row() *row {
	var d toolData
	var row string
	c := transcript.NewCallCard()
	c.Forward, c.OnCopy = r.list.Scrolled, copyText
	c.OnToggle = func(open bool) { r.choices.setExpanded(row, d.id, open) }
	c.OnPress, c.OnTextMoved = r.list.Selection.Press, r.list.Selection.TextMoved
	c.OnMenu = func(at fyne.Position) { copyMenu(r.list, c, at, "Copy output", c.CopyText()) }
	c.OnStop = func() { r.chat.stopCall(d.call) }
	c.OnReview = func() { r.chat.host.Open(host.Question(d.approval)) }
	c.OnUndo = func() { r.actions.undo(d.info) }
	c.OnShowAll = func(all bool) {
		c.SetOutput(all, r.choices.wraps())
		r.choices.setExpanded(row, wholeKey(d.id), all)
		if all && d.card.CanLoad {
			r.actions.loadOutput(d.call)
		}
	}
	c.OnWrap = r.choices.setWrap
	c.OnOpenOutput = func(search bool) { r.chat.openOutput(d, search) }
	c.OnShowsAll = func(whole bool) { r.chat.builder.recordSighting(d.approval, d.hash, whole, r.chat.now) }
	c.OnDeny = func() { r.chat.answer(d.approval, protocol.DecisionDeny) }
	c.OnAllow = func() { r.chat.answer(d.approval, protocol.DecisionAllow) }
	return newRow(style.Gap, c, func(i transcript.Item) {
		next := i.Data.(toolData)
		open := r.choices.expanded.isExpanded(next.id, next.open)
		if next.id != d.id {
			c.Reset(open)
		}
		d, row = next, i.Key
		if r.chat.author == nil { // an archived conversation
			d.card.Undo = ""
		}
		c.SetOutput(r.choices.showsWhole(d.id), r.choices.wraps())
		c.Set(d.card)
		c.SetOpen(open)
	})
}
