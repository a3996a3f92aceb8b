package question

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// answerCall fills in the answer to a call, or to a run that asks whether to continue, after
// checking it.
func answerCall(who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
	refuse := func(format string, args ...any) error {
		return protocol.ErrBadRequest.With(fmt.Sprintf(format, args...))
	}
	if q.State == protocol.QuestionDenied {
		return nil
	}
	p.Scope = cmp.Or(p.Scope, protocol.ScopeOnce)
	if !slices.Contains(q.Choices, p.Scope) {
		return refuse("this approval cannot be allowed with scope %q", p.Scope)
	}
	for _, i := range p.Offers {
		if i < 0 || i >= len(q.Offers) {
			return refuse("this approval offers %d rules, so there is no rule %d", len(q.Offers), i)
		}
	}
	if p.Until != 0 && (!savesRules(p.Scope) || p.Until <= time.Now().UnixMilli()) {
		return refuse("an expiry needs a new rule and must be in the future")
	}
	for _, i := range p.Access {
		if i < 0 || q.Preview == nil || i >= len(q.Preview.Folders) {
			return refuse("this approval offers no folder %d", i)
		}
	}
	if len(p.Args) > 0 && (p.Scope != protocol.ScopeOnce || !q.IsCall()) {
		return refuse("an edited call can be allowed only once")
	}
	// The edited call is a direct action of the person and needs no approval.
	if len(p.Args) > 0 && !who.Has(protocol.ScopeInvoke) {
		return protocol.ErrForbidden.With("this device may answer questions, but run nothing itself: allow the call as it is, or deny it")
	}
	q.Scope, q.Chosen, q.Edited, q.Access, q.Until = p.Scope, p.Offers, p.Args, p.Access, p.Until
	if len(p.Args) > 0 {
		q.State = protocol.QuestionEdited
	}
	return nil
}

// savesRules reports whether an allow with this scope applies beyond its call and its chat.
func savesRules(scope string) bool {
	return scope == protocol.ScopeFolder || scope == protocol.ScopeMachine || scope == protocol.ScopeAlways
}
