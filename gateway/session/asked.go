package session

import (
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// askedBy says on whose behalf a run's calls are made: the chat's, or that of the schedule, of the stranger on a channel
// or of the agent of another chat that began it.
func askedBy(principal, title string, model protocol.ModelRef) protocol.AskedBy {
	by := protocol.AskedBy{Kind: "chat", Name: title, Model: model.String()}
	principal = strings.TrimPrefix(principal, eventPrincipal)
	if name, ok := strings.CutPrefix(principal, auth.KindSchedule+" "); ok {
		by.Kind, by.Name = protocol.AskedBySchedule, name
	} else if name, ok := strings.CutPrefix(principal, auth.KindChannel+" "); ok {
		by.Kind, by.Name = protocol.AskedByChannel, name
	} else if chat, ok := strings.CutPrefix(principal, auth.KindAgent+" "); ok {
		by.Kind, by.Name = protocol.AskedByAgent, chat
	}
	return by
}

// principalOf is a principal for which [askedBy] says the same, of who is not the person.
func principalOf(by protocol.AskedBy) string {
	switch by.Kind {
	case protocol.AskedBySchedule:
		return auth.KindSchedule + " " + by.Name
	case protocol.AskedByChannel:
		return auth.KindChannel + " " + by.Name
	case protocol.AskedByAgent:
		return auth.KindAgent + " " + by.Name
	}
	return ""
}
