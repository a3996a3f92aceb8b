package session

import (
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

func TestCallsSayWhoBeganThemIfNotThePerson(t *testing.T) {
	model := protocol.ModelRef{Provider: "p", ID: "m"}
	for principal, want := range map[string]protocol.AskedBy{
		auth.Schedule("Back up").String():             {Kind: "schedule", Name: "Back up", Model: "p/m"},
		auth.ChannelSender("xmpp", "bob@x").String():  {Kind: "channel", Name: "xmpp bob@x", Model: "p/m"},
		auth.Agent("agent:main:cron", "run").String(): {Kind: "agent", Name: "agent:main:cron", Model: "p/m"},
		auth.ChannelOwner("xmpp", "ann@x").String():   {Kind: "chat", Name: "title", Model: "p/m"},
		auth.Owner("schedule").String():               {Kind: "chat", Name: "title", Model: "p/m"},
		"":                                            {Kind: "chat", Name: "title", Model: "p/m"},
	} {
		if got := askedBy(principal, "title", model); got != want {
			t.Errorf("%q: got %+v, want %+v", principal, got, want)
		}
	}
}
