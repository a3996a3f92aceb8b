package question

import (
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// VisitWords are the words about somebody who wants to visit a published app.
func VisitWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	title, _ := wording.Reveal(display.VisitQuestion(*q.Visit))
	body, _ := wording.Reveal(display.VisitorFrom(*q.Visit) + display.VisitMessage(*q.Visit))
	return Words{Title: title, Body: body, CanDeny: true}
}

// VisitTime is how long an answer lets a visitor in.
type VisitTime struct{ For, Text string }

// VisitTimes are the times that an answer can have, the shortest first.
var VisitTimes = []VisitTime{
	{protocol.VisitHour, "An hour"}, {protocol.VisitDay, "A day"}, {protocol.VisitAlways, "Always"},
}
