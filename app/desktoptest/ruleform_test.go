//go:build desktop

package desktoptest

import (
	"testing"

	"fairlead/gateway/protocol"
)

// TestARuleFromTheFormDecidesTheNextCall makes a rule for a command word by word, sees which
// earlier call it covers, and needs no answer for the next one.
func TestARuleFromTheFormDecidesTheNextCall(t *testing.T) {
	d := startApprovalProgram(t)
	d.useDarkTheme(d.c)
	const chat = protocol.MainSession
	d.send(chat, "run ls -la")
	d.clickAction("Allow once")
	d.waitCalls(chat, protocol.CallDone)
	d.waitNoWindow(question)

	d.openPageOfMain("Approvals and rules")
	d.waitTextIn(mainWindow, "No rules yet", contentTop)
	d.clickColouredButton(contentTop)
	d.waitTextIn(mainWindow, "Working folder", content)
	d.typeText("ls -la") // the field of the command has the keyboard
	d.waitTextIn(mainWindow, "changes 1 decision", content)
	d.screenshot("form")
	d.clickColouredButton(func(w window) window { w = content(w); w.y, w.h = w.y+w.h-80, 80; return w })
	d.waitFor("the rule", func() bool { return d.ruleCount() == 1 })
	d.send(chat, "run ls -la")
	d.waitCalls(chat, protocol.CallDone, protocol.CallDone)
	d.screenshot("decided")
}

// clickColouredButton clicks the button with the colour of actions in a part of the main window,
// whose text is too bright to be read.
func (d *approvalProgram) clickColouredButton(part func(window) window) {
	d.t.Helper()
	d.waitFor("a button with the colour of actions", func() bool {
		areas := d.colouredAreas(part(d.waitWindow(mainWindow)))
		if len(areas) != 1 {
			return false
		}
		d.click(areas[0].Min.Add(areas[0].Size().Div(2)))
		return true
	})
}
