package chat

import (
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestUnsentMessageReturnsToTheComposer: the gateway refuses it.
func TestUnsentMessageReturnsToTheComposer(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.host.Holds = true
	on(d, protocol.ChatSend, func(protocol.ChatSendParams) (protocol.ChatSendResult, error) {
		return protocol.ChatSendResult{}, errors.New("no connection")
	})
	d.page.Load("a")
	picture := []protocol.Attachment{{Filename: "a.png"}}
	d.requests.send("not sent", picture, "")
	d.SetDraft("typed since")
	d.host.Release()
	if got, want := d.Draft(), "not sent\ntyped since"; got != want || len(d.Attachments()) != 1 {
		t.Errorf("the field has %q and %d pictures, want %q and 1", got, len(d.Attachments()), want)
	}
	d.requests.send("not sent there", picture, "")
	d.page.Load("b")
	d.host.Release()
	if got := d.Draft(); got != "" {
		t.Errorf("another chat has the draft %q", got)
	}
	d.page.Load("a")
	if got, want := d.Draft(), "not sent there\nnot sent\ntyped since"; got != want {
		t.Errorf("the chat has the draft %q, want %q", got, want)
	}
}

func TestFailedEditLosesNoText(t *testing.T) {
	d := newDesk(t, 860, 600)
	on(d, protocol.ChatResend, func(protocol.ChatResendParams) (protocol.ChatResendResult, error) {
		return protocol.ChatResendResult{}, errors.New("no connection")
	})
	d.page.Load("a")
	text := "a better question"
	d.requests.resend(protocol.ChatResendParams{MessageID: "m", Message: &text, Attachments: &[]protocol.Attachment{{Filename: "a.png"}}})
	if got := d.Draft(); got != text || len(d.Attachments()) != 1 {
		t.Errorf("the field has %q and %d pictures; want %q and 1", got, len(d.Attachments()), text)
	}
	d.assert(t, "say The message was not sent again: no connection")
}

// savedDrafts is a [DraftStore] in memory.
type savedDrafts map[protocol.SessionKey]draft

func (s savedDrafts) SaveText(key protocol.SessionKey, text string) {
	s[key] = draft{text, s[key].images}
}

func (s savedDrafts) SavePictures(key protocol.SessionKey, pictures []protocol.Attachment) {
	s[key] = draft{s[key].text, pictures}
}

func TestLongDraftsAndSentPicturesAreNotSaved(t *testing.T) {
	saved := savedDrafts{}
	d := NewDrafts(saved, nil, nil)
	d.save("a", draft{text: strings.Repeat("x", maxDraft+1)})
	if got := saved["a"].text; got != "" {
		t.Errorf("a text above the limit is saved: %d bytes", len(got))
	}
	d.save("b", draft{images: []protocol.Attachment{{Filename: "a.png"}}})
	d.save("b", draft{})
	if got := saved["b"]; !got.equal(draft{}) || d.IsUnused("a") || !d.IsUnused("b") {
		t.Errorf("after the message was sent: got %+v, want no draft", got)
	}
}
