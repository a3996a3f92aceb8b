package app

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// TestFailedEditLosesNoText: the gateway cannot be reached, so that nothing is replaced.
func TestFailedEditLosesNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newTestUI(t)
		u.update(sample())
		text := "a better question"
		u.main.conversation.resend(protocol.ChatResendParams{MessageID: "m", Message: &text, Attachments: &[]protocol.Attachment{{Filename: "a.png"}}})
		time.Sleep(time.Minute)
		pagetest.Settle()
		if got := u.main.conversation.pane.Draft(); got != text || len(u.main.conversation.pane.Attachments()) != 1 {
			t.Errorf("the field has %q and %d pictures", got, len(u.main.conversation.pane.Attachments()))
		}
		if len(u.messages.undos) != 0 || !u.messages.toast.Visible() {
			t.Errorf("%d offers to undo; the reason is shown: %v", len(u.messages.undos), u.messages.toast.Visible())
		}
	})
}
