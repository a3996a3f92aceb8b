//go:build desktop

package desktoptest

import (
	"testing"

	"fairlead/gateway/protocol"
)

// TestARuleFromTheFormDecidesTheNextCall makes a rule for a command word by word, sees which earlier
// call it covers, and needs no answer for the next one.
func TestARuleFromTheFormDecidesTheNextCall(t *testing.T) {
	d := openDesk(t)
	d.darken(d.c)
	const chat = protocol.MainSession
	d.ask(chat, "run ls -la")
	d.act("Allow once")
	d.ends(chat, protocol.CallDone)
	d.waitNoWindow(question)

	d.page("Approvals and rules")
	d.waitTextIn(mainWindow, "No rules yet", top)
	d.clickAction(top)
	d.click(d.waitTextIn(mainWindow, "git push origin", right))
	d.typeText("ls -la")
	d.waitTextIn(mainWindow, "changes 1 decision", right)
	d.shot("form")
	d.clickAction(func(w window) window { w = right(w); w.y, w.h = w.y+w.h-80, 80; return w })
	d.until("the rule", func() bool { return d.rules() == 1 })
	d.ask(chat, "run ls -la")
	d.ends(chat, protocol.CallDone, protocol.CallDone)
	d.shot("decided")
}

// clickAction clicks the button with the colour of actions in a part of the main window, whose text
// is too bright to be read.
func (d *desk) clickAction(part func(window) window) {
	d.t.Helper()
	d.until("a button with the colour of actions", func() bool {
		areas := d.coloured(part(d.waitWindow(mainWindow)))
		if len(areas) != 1 {
			return false
		}
		d.click(areas[0].Min.Add(areas[0].Size().Div(2)))
		return true
	})
}
