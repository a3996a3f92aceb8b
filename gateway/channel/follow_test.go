package channel_test

import (
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

func TestAnswerToABackgroundCommandGoesWhereTheChatIsHeld(t *testing.T) {
	b, p := open(t)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	start(t, b)
	in := directMessage("go")
	in.Message.ID = "m1"
	res, err := b.Inbox.Inbound(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	waitSent(t, p, "You said go")
	for _, c := range []struct {
		run, after protocol.RunID
		text       string
	}{{"exec-1", res.RunID, "first"}, {"exec-2", "exec-1", "second"}, {"exec-3", "from-a-window", "unheard"}, {"exec-4", res.RunID, "third"}} {
		if err := b.Answers.Follow(t.Context(), res.SessionKey, c.run, c.after); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Send(t.Context(), auth.Node("box"), protocol.ChatSendParams{SessionKey: res.SessionKey, Message: c.text, RunID: c.run}); err != nil {
			t.Fatal(err)
		}
	}
	waitSent(t, p, "You said go", "You said first", "You said second", "You said third")
	if err := b.Answers.Follow(t.Context(), "agent:main:app:chat:x", "exec-5", "exec-4"); err != nil {
		t.Error(err)
	}
	if err := b.Answers.Follow(t.Context(), res.SessionKey, "exec-6", res.RunID); err != nil {
		t.Error(err)
	}
	b.Answers.Unfollow(t.Context(), "exec-6")
	polltest.Until(t, "the runs are forgotten", func() bool {
		runs, err := b.Store.Channels.Runs(t.Context())
		return err == nil && len(runs) == 0
	})
}
