package display

import (
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// SenderQuestion asks about an unknown sender on a channel. The name is the sender's own choice.
func SenderQuestion(s protocol.SenderSubject) string {
	who := format.Line(s.SenderID, 80)
	if s.SenderName != "" && s.SenderName != s.SenderID {
		who = fmt.Sprintf("“%s” (%s)", format.Line(s.SenderName, 60), who)
	}
	return fmt.Sprintf("Let %s write to the agent on %s?", who, format.Line(ChannelName(s.Channel), 40))
}

// SenderMessage quotes the sender's first message; empty without one.
func SenderMessage(s protocol.SenderSubject) string {
	if s.FirstMessage == "" {
		return ""
	}
	return " They wrote: “" + format.Line(s.FirstMessage, 200) + "”"
}

// ChannelName returns a channel's name for people. One that another program serves has an ID only.
func ChannelName(id string) string {
	if id == "xmpp" {
		return "XMPP"
	}
	return format.Capital(id)
}
