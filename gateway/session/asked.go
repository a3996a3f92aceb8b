package session

import (
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// askedBy says on whose behalf a run's calls are made: the chat's, or the schedule's that began it.
func askedBy(principal, title string, model protocol.ModelRef) protocol.AskedBy {
	by := protocol.AskedBy{Kind: "chat", Name: title, Model: model.String()}
	if name, ok := strings.CutPrefix(strings.TrimPrefix(principal, eventPrincipal), auth.KindSchedule+" "); ok {
		by.Kind, by.Name = "schedule", name
	}
	return by
}
