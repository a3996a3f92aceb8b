package session

import (
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// askedBy returns on whose behalf a run makes its calls: the chat's, or that of the schedule, the
// channel's sender or the other chat's agent that started the run.
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

// principalOf is the inverse of [askedBy]: it returns a principal for everybody except the person.
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
