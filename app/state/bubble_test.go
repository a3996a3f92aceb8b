package state

import (
	"strings"
	"testing"

	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

// bubble runs a test of the view models against a fake gateway with a fake clock. setup may be nil.
func bubble(t *testing.T, setup func(*feedtest.Gateway), body func(*testing.T, *App, *feedtest.Gateway)) {
	feedtest.Run(t, NewApp, setup, body)
}

func text(seq int64, s string) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(s), Seq: seq, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(s)}}
}

func texts(list []protocol.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Content.Text())
	}
	return strings.Join(out, " ")
}
