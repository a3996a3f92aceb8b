package transcript

import (
	"cmp"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// This file has the texts for reading aids: who says what, and what a call did; see [fyne.Accessible].

// stateWords are the states of calls, which others see by their icons.
var stateWords = map[CallState]string{
	CallWaiting: "waiting for you", CallRunning: "running", CallDone: "done", CallFailed: "failed",
	CallDenied: "denied", CallStopped: "stopped", CallUnknown: "outcome unknown",
}

// accessibleText returns the line of a call.
func (c Call) accessibleText() string {
	machine := ""
	if c.Machine != "" {
		machine = "on " + c.Machine
	}
	return widgets.JoinTexts(c.Verb, machine, c.Argument, cmp.Or(c.Status, stateWords[c.State]), c.Time)
}

// AccessibilityLabel implements fyne.Accessible.
func (c *CallCard) AccessibilityLabel() string {
	if !c.open {
		return c.call.accessibleText()
	}
	return widgets.JoinTexts(c.call.accessibleText(), widgets.AccessibleText(c.body))
}

// AccessibilityLabel implements fyne.Accessible.
func (m *MessageView) AccessibilityLabel() string {
	texts := []string{m.msg.Sender, cmp.Or(m.msg.FullTime, m.msg.Time)}
	for _, p := range m.Passages() {
		texts = append(texts, p.Selectable().AccessibleText())
	}
	return widgets.JoinTexts(texts...)
}

// AccessibleParts returns the rows in view, for [widgets.Readable].
func (t *View) AccessibleParts() (rows []fyne.CanvasObject) {
	for _, a := range t.rows.order {
		rows = append(rows, a.row)
	}
	return append(rows, t.toEnd.button)
}
