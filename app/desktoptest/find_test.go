//go:build desktop

package desktoptest

import (
	"context"
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestSearchResultOpensAtItsMessage searches all chats for a message in the middle of a long one
// and opens it: the window shows that message and not the end of the chat.
func TestSearchResultOpensAtItsMessage(t *testing.T) {
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &chatProgram{p, p.gateway()}
	const long = protocol.SessionKey("agent:main:long")
	send := func(text string) {
		before := len(d.messages(long))
		if _, err := client.Call(context.Background(), d.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: long, Message: text}); err != nil {
			t.Fatal(err)
		}
		d.waitFor("the answer to "+text, func() bool { return len(d.messages(long)) > before+1 })
	}
	for i := range 24 {
		if i == 8 {
			send("the violet kettle is in the cellar")
		}
		send(fmt.Sprintf("what can you do %d", i))
	}
	d.activateMain()
	d.keys("ctrl+shift+f")
	d.typeText("kettle")
	found := d.waitTextIn(mainWindow, "in the cellar", func(w window) window { w = content(w); w.y, w.h = w.y+80, w.h-80; return w })
	d.screenshot("found")
	d.click(found)
	d.waitTextIn(mainWindow, "violet kettle", content)
	d.waitTextIn(mainWindow, "what can you do 8", content) // the next question, and not the end of the chat
	d.screenshot("opened")
}

// TestAQuestionIsAnsweredWithTheLargestText answers a question that is longer than its window.
func TestAQuestionIsAnsweredWithTheLargestText(t *testing.T) {
	d := startApprovalProgram(t)
	if err := setConfig(d.c, "ui.textSize", 2); err != nil {
		t.Fatal(err)
	}
	w := d.activateMain()
	d.waitFor("the large text", func() bool { // moves the second choice of the first page down
		at, ok := find(d.readOnce(w, ""), "Join my other")
		return ok && at.Y > w.y+w.h*2/3
	})
	d.send(protocol.MainSession, "run uname -a")
	d.waitText(question, "wants to run")
	d.waitText(question, "Deny with reason")
	d.waitText(question, "Scroll to the end to allow")
	d.screenshot("question")
	middle := d.waitText(question, "asked by")
	for range 20 {
		d.press(middle, "5") // the wheel, downwards
	}
	d.clickAction("Allow once")
	d.waitNoWindow(question)
	d.waitCalls(protocol.MainSession, protocol.CallDone)
	d.waitText(mainWindow, "run uname")
	d.screenshot("answered")
}
