package channel_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func directMessage(text string) protocol.ChannelInboundParams {
	return protocol.ChannelInboundParams{Channel: "pigeon", AccountID: "default", Peer: protocol.Peer{Kind: "dm", ID: "ann"}, Message: protocol.ChannelMessage{Text: text}}
}

func open(t *testing.T) (*channeltest.Bench, *channeltest.Pigeon) {
	t.Helper()
	p := channeltest.NewPigeon()
	b := channeltest.Open(t, t.TempDir(), p)
	t.Cleanup(b.Close)
	return b, p
}

func start(t *testing.T, b *channeltest.Bench) {
	t.Helper()
	cfg := map[string]json.RawMessage{"loft": json.RawMessage(`"roof"`), "key": json.RawMessage(`"k"`)}
	if _, err := b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "pigeon", Config: cfg}); err != nil {
		t.Fatal(err)
	}
}

func texts(p *channeltest.Pigeon) []string {
	var list []string
	for _, m := range p.Sent() {
		list = append(list, m.Message.Text)
	}
	return list
}

func waitSent(t *testing.T, p *channeltest.Pigeon, want ...string) {
	t.Helper()
	polltest.Until(t, fmt.Sprintf("said %q", want), func() bool { return len(p.Sent()) >= len(want) })
	if got := texts(p); !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
}

// refuseWrites makes the store in dir refuse a kind of write, such as INSERT ON questions, as a
// full disk does, until the returned function is called.
func refuseWrites(t *testing.T, dir, write string) (allow func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.ToSlash(filepath.Join(dir, "s.db")))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TRIGGER refuse BEFORE " + write + " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
	return func() {
		t.Helper()
		exec("DROP TRIGGER refuse")
		db.Close()
	}
}

// notices returns the texts that wait in the outbox, oldest first. They are marked as sent.
func notices(t *testing.T, b *channeltest.Bench) (list []string) {
	t.Helper()
	for {
		o, err := b.Store.Outbox.Next(t.Context(), "pigeon", "default")
		if errors.Is(err, protocol.ErrNotFound) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list, o.State = append(list, o.Event.Message.Text), store.OutboxSent
		if err := b.Store.Outbox.SetState(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}
