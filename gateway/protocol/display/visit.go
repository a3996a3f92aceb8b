package display

import (
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// VisitQuestion asks about somebody who wants to visit a published app.
func VisitQuestion(v protocol.VisitSubject) string {
	return fmt.Sprintf("Let %s visit “%s”?", format.Line(v.Email, 80), format.Line(v.Title, 60))
}

// VisitorFrom says from where they ask, and whether the address is known to be theirs.
func VisitorFrom(v protocol.VisitSubject) string {
	if v.Verified != "" {
		return fmt.Sprintf("They signed in with %s, from %s.", format.Line(v.Verified, 40), format.Line(v.From, 60))
	}
	return fmt.Sprintf("Nobody has checked that this address is theirs. They ask from %s.", format.Line(v.From, 60))
}

// VisitMessage quotes their message; empty without one.
func VisitMessage(v protocol.VisitSubject) string {
	if v.Message == "" {
		return ""
	}
	return " They wrote: “" + format.Line(v.Message, 200) + "”"
}

// VisitScope says whom each answer lets in.
func VisitScope(v protocol.VisitSubject) string {
	who := "this browser now, and later whoever can prove that the address is theirs"
	if v.Verified != "" {
		who = "them with any browser"
	}
	return fmt.Sprintf("For an hour or a day, only the browser that asked gets access. “Always” adds %s to the app's list, which gives access to %s.", format.Line(v.Email, 80), who)
}
