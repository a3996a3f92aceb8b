package chats

import (
	"strings"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// chatFeed is a feed and the chats that it reports to.
type chatFeed struct {
	*feed.Feed
	chats *Chats
}

func newChatFeed() *chatFeed {
	f := feed.New()
	return &chatFeed{f, New(f)}
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
