//go:build desktop

package desktoptest

import (
	"context"
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestASearchOpensAtTheMessage searches all chats for a message in the middle of a long one and
// opens it: the window shows that message and not the end of the chat.
func TestASearchOpensAtTheMessage(t *testing.T) {
	p := start(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	d := &day{p, p.gateway()}
	const long = protocol.SessionKey("agent:main:long")
	send := func(text string) {
		before := len(d.messages(long))
		if _, err := client.Call(context.Background(), d.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: long, Message: text}); err != nil {
			t.Fatal(err)
		}
		d.until("the answer to "+text, func() bool { return len(d.messages(long)) > before+1 })
	}
	for i := range 24 {
		if i == 8 {
			send("the violet kettle is in the cellar")
		}
		send(fmt.Sprintf("what can you do %d", i))
	}
	d.main()
	d.keys("ctrl+shift+f")
	d.typeText("kettle")
	found := d.waitTextIn(mainWindow, "in the cellar", func(w window) window { w = right(w); w.y, w.h = w.y+80, w.h-80; return w })
	d.shot("found")
	d.click(found)
	d.waitTextIn(mainWindow, "violet kettle", right)
	d.waitTextIn(mainWindow, "what can you do 8", right) // the next question, and not the end of the chat
	d.shot("opened")
}

// TestAQuestionIsAnsweredWithTheLargestText answers a question that is longer than its window.
func TestAQuestionIsAnsweredWithTheLargestText(t *testing.T) {
	d := openDesk(t)
	if err := setConfig(d.c, "ui.textSize", 2); err != nil {
		t.Fatal(err)
	}
	w := d.main()
	d.until("the large text", func() bool { // moves the second choice of the first page down
		at, ok := find(d.readOnce(w, ""), "Join my other")
		return ok && at.Y > w.y+w.h*2/3
	})
	d.ask(protocol.MainSession, "run uname -a")
	d.waitText(question, "wants to run")
	d.waitText(question, "Deny with reason")
	d.waitText(question, "Scroll to the end to allow")
	d.shot("question")
	middle := d.waitText(question, "asked by")
	for range 20 {
		d.press(middle, "5") // the wheel, downwards
	}
	d.act("Allow once")
	d.waitNoWindow(question)
	d.ends(protocol.MainSession, protocol.CallDone)
	d.waitText(mainWindow, "run uname")
	d.shot("answered")
}
