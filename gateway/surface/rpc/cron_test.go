package rpc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// jobChats are the chats in which the jobs of a conversation run. The second line of a message
// determines the answer: "say X" answers X, "fail X" fails, anything else is answered "done".
type jobChats struct {
	store *store.DB
	bus   *event.Bus
}

func (c jobChats) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	at := time.Now().UnixMilli()
	r := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunThinking, Params: in, Principal: p.String(), CreatedAt: at, StartedAt: at}
	question := protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(in.Message)}}
	if _, err := c.store.Runs.Start(ctx, r, question); err != nil {
		return protocol.ChatSendResult{}, err
	}
	_, text, _ := strings.Cut(in.Message, "\n")
	r.State, r.EndedAt, r.Answer = protocol.RunDone, at, "done"
	if said, ok := strings.CutPrefix(text, "say "); ok {
		r.Answer = said
	} else if why, ok := strings.CutPrefix(text, "fail "); ok {
		r.State, r.Answer, r.Error = protocol.RunFailed, "", protocol.ErrModel.With(why)
	}
	if err := c.store.Runs.Put(ctx, r); err != nil {
		return protocol.ChatSendResult{}, err
	}
	end := protocol.RunInfo{RunID: r.ID, SessionKey: r.Session, State: r.State, EndedAt: at, Error: r.Error}
	c.bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: r.Session, Run: &end})
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, nil
}

func (jobChats) Cancel(context.Context, protocol.ChatCancelParams) (res protocol.ChatCancelResult, err error) {
	return res, nil
}

func (c jobChats) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	_, err := c.store.Sessions.Ensure(ctx, in.SessionKey, time.Now().UnixMilli())
	return protocol.SessionEntry{SessionKey: in.SessionKey}, err
}

func (jobChats) Patch(context.Context, protocol.SessionPatchParams) (protocol.OK, error) {
	return protocol.OK{OK: true}, nil
}

func (jobChats) Delete(context.Context, protocol.SessionParams) (res protocol.SessionDeleteResult, err error) {
	return res, nil
}

func (jobChats) Stats(context.Context, protocol.SessionParams) (res protocol.SessionStats, err error) {
	return res, nil
}

// realSchedules returns schedules with their own store, for the conversations about them.
func realSchedules(t *testing.T) (s *cron.Scheduler, stop func()) {
	dir, err := os.MkdirTemp("", "schedules") // not t.TempDir, which outlives the bubble
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(context.Background(), filepath.Join(dir, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.UserTimezone = "UTC"
	cfg.Agents.DefaultHeartbeat.Every = "0m"
	chats := jobChats{st, new(event.Bus)}
	sched := cron.New(cron.Options{
		Stores: cron.Stores{Jobs: st.Jobs, Heartbeats: st.Heartbeats, Runs: st.Runs, Messages: st.Messages, Questions: st.Questions, Calls: st.Calls},
		Bus:    chats.bus, Chats: chats, Messages: chats, Runs: chats, Trash: chats, Config: func() config.Config { return cfg },
		Deliver:       func(context.Context, cron.Delivery) (string, error) { return "", nil },
		PromptTokens:  func(context.Context, protocol.SessionKey) int64 { return 1000 },
		HeartbeatFile: func(protocol.AgentID) (string, error) { return "- look\n", nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	if err := sched.Load(ctx); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	close(ready)
	go func() {
		defer close(ended)
		sched.Run(ctx, ready)
	}()
	return sched, func() {
		cancel()
		<-ended
		st.Close()
		os.RemoveAll(dir)
	}
}
