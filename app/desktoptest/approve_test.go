//go:build desktop

package desktoptest

import (
	"context"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestApprovalDialogButtonsWork uses every button of the approval dialog, and the pages Needs you,
// Rules and Audit.
func TestApprovalDialogButtonsWork(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if res, err := client.Call(context.Background(), c, protocol.NodesList, protocol.Empty{}); err == nil && len(res.Nodes) > 0 && res.Nodes[0].Online {
			break // this computer is ready
		}
	}
	ask := func(text string) {
		t.Helper()
		if _, err := client.Call(context.Background(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text}); err != nil {
			t.Fatal(err)
		}
	}
	press := func(phrase string) {
		t.Helper()
		p.activate(p.waitWindow(question))
		p.click(p.waitTextIn(question, phrase, buttonRow))
	}

	ask("run echo one > made.txt && sudo echo two")
	p.waitText(question, "sudo")
	p.screenshot("question")
	press("Edit")
	p.waitText(question, "Your version") // clickAction reads the button itself
	p.screenshot("edit")
	p.keys("ctrl+a")
	p.typeText("echo changed-by-hand")
	p.clickAction("Run this")
	if m := lastResult(p, c, "__Bash"); !strings.Contains(m.Content.Text(), "changed-by-hand") {
		t.Errorf(`what ran said %q, want "changed-by-hand" in it`, m.Content.Text())
	}
	p.waitNoWindow(question)

	ask("run make later")
	press("Not now")
	p.waitNoWindow(question)
	p.activate(p.waitWindow(mainWindow))
	p.openPage("Needs you")
	p.waitTextIn(mainWindow, "postponed until", contentTop)
	p.screenshot("needs-you")
	p.click(p.waitTextIn(mainWindow, "Review", contentTop))
	p.waitWindow(question)
	press("Deny with")
	p.waitText(question, "Reason for")
	p.typeText("not today")
	p.keys("Return")
	p.waitNoWindow(question)

	p.openPage("Approvals and rules")
	p.waitTextIn(mainWindow, "No rules yet", contentTop)
	p.screenshot("rules-empty")
	p.openPage("Activity")
	p.waitTextIn(mainWindow, "1 command", content)
	p.screenshot("activity")
	p.click(p.waitTextIn(mainWindow, "Audit log", contentTop))
	p.click(p.waitTextIn(mainWindow, "Verify", contentTop))
	p.waitTextIn(mainWindow, "verified", contentTop)
	p.screenshot("audit")
}
