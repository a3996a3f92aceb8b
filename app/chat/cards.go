package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// cardRows creates the rows of tool calls.
type cardRows struct {
	chat    *conversation
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
	c.OnStop = func() { r.chat.handlers.StopCall(d.call) }
	c.OnReview = func() { r.chat.handlers.Review(d.approval) }
	c.OnUndo = func() { r.actions.undo(d.info) }
	c.OnShowAll = func(all bool) {
		c.SetOutput(all, r.choices.wrap)
		r.choices.setExpanded(row, wholeKey(d.id), all)
		if all && d.card.CanLoad {
			r.actions.loadOutput(d.call)
		}
	}
	c.OnWrap = func(on bool) {
		widgets.CallWith(r.chat.handlers.SetWrap, on)
		r.choices.setWrap(on)
	}
	c.OnOpenOutput = func(search bool) { r.actions.openOutput(d, search) }
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
		if r.chat.handlers.Undo == nil { // an archived conversation
			d.card.Undo = ""
		}
		c.SetOutput(r.choices.showsWhole(d.id), r.choices.wrap)
		c.Set(d.card)
		c.SetOpen(open)
	})
}
