package channel_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

func dm(text string) protocol.ChannelInboundParams {
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

func says(t *testing.T, p *channeltest.Pigeon, want ...string) {
	t.Helper()
	polltest.Until(t, fmt.Sprintf("said %q", want), func() bool { return len(p.Sent()) >= len(want) })
	if got := texts(p); !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
}
