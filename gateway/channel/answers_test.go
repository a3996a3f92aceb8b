package channel_test

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/protocol"
)

// The answers and the end of a run are in its events: the transcript and the run are not read
// again. Here they are in the events only.
func TestAnswersComeFromTheEventsOfTheRun(t *testing.T) {
	b, p := open(t)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	start(t, b)
	res, err := b.Inbox.Inbound(t.Context(), directMessage("hold"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Let me look.", "Here it is."} {
		b.Bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: res.SessionKey, Message: &protocol.Message{
			ID: protocol.MessageID(text), RunID: res.RunID, Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(text)},
		}})
	}
	b.Bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: res.SessionKey, Run: &protocol.RunInfo{
		RunID: res.RunID, State: protocol.RunFailed, EndedAt: 1, Error: protocol.ErrUnavailable.With("the model is asleep"),
	}})
	waitSent(t, p, "Let me look.", "Here it is.", "I could not finish this: the model is asleep")
}

// An answer that could not be put into the outbox is read from the transcript a minute later.
func TestUnstoredAnswerIsReadLater(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := channeltest.NewPigeon()
		b := channeltest.Open(t, dir, p)
		defer b.Close()
		b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
		b.Begin()
		start(t, b)
		res, err := b.Inbox.Inbound(t.Context(), directMessage("hold"))
		if err != nil {
			t.Fatal(err)
		}
		allowWrites := refuseWrites(t, dir, "INSERT ON channel_outbox")
		if err := b.Answer(t.Context(), res.RunID, "Here it is."); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		allowWrites()
		if sent := texts(p); len(sent) != 0 {
			t.Errorf("sent while the disk is full: got %q, want nothing", sent)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		waitSent(t, p, "Here it is.")
	})
}
