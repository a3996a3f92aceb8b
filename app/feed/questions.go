package feed

import (
	"slices"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// UnsnoozedApprovals returns the pending approvals that are not snoozed.
func (v View) UnsnoozedApprovals() []protocol.Question {
	return lists.Without(v.Approvals, func(q protocol.Question) bool { return q.Later != 0 })
}

// NextQuestion returns the first pending approval of the next chat after the given one that waits
// for the person, in the order of waiting. Without another chat, it is of the given one.
func (v View) NextQuestion(after protocol.SessionKey) (q protocol.Question, ok bool) {
	var first []protocol.Question // of each chat
	for _, a := range v.Approvals {
		if !slices.ContainsFunc(first, func(x protocol.Question) bool { return x.SessionKey == a.SessionKey }) {
			first = append(first, a)
		}
	}
	if len(first) == 0 {
		return q, false
	}
	at := slices.IndexFunc(first, func(x protocol.Question) bool { return x.SessionKey == after })
	return first[(at+1)%len(first)], true
}
