package audit

import (
	"fmt"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// verificationText describes a check of the log's hash chain; ok is false if it is broken.
func verificationText(r protocol.AuditVerifyResult) (text string, ok bool) {
	if r.Broken == 0 {
		return format.Plural(int(r.Lines), "entry", "entries") + " verified. Nothing was changed or removed.", true
	}
	return fmt.Sprintf("Entry %d does not match the entry before it: %s. Later entries cannot be trusted.", r.Broken, r.Why), false
}

// createdPermission reports whether an entry created a permission for more than one call.
func createdPermission(e protocol.AuditEntry) bool {
	switch {
	case e.Kind == protocol.AuditRuleDeleted || e.Kind == protocol.AuditGrantWithdrawn:
		return false
	case e.Rule != "":
		return true
	case e.Approval == "":
		return false
	case e.Kind != protocol.AuditCall:
		return true
	}
	return e.Verdict == "allow" && !strings.HasSuffix(e.Why, " "+protocol.ScopeOnce)
}

// placeOf returns the machine and the chat of an entry: their names, with the IDs from the log.
func placeOf(e protocol.AuditEntry, v feed.View) (machine, chat string) {
	switch e.Node {
	case "":
	case protocol.NativePrefix:
		machine = "the gateway"
	default:
		machine = withID(v.Machines.Name(e.Node), string(e.Node))
	}
	if e.SessionKey != "" {
		chat = withID(v.ChatName(e.SessionKey), string(e.SessionKey))
	}
	return machine, chat
}

// deciderOf describes who decided about an entry, together with the recorded identity.
func deciderOf(e protocol.AuditEntry, v feed.View) string {
	words := display.Answerer(e.By)
	switch kind, name, _ := strings.Cut(e.By, " "); kind {
	case "agent":
		words = "the agent in “" + v.ChatName(protocol.SessionKey(name)) + "”"
	case "rule":
		if rule, ok := display.RuleWords(e); ok {
			words = "the rule “" + rule + "”"
		}
	}
	return withID(words, e.By)
}

// askerOf describes who wanted a call, or "" if that was not recorded.
func askerOf(e protocol.AuditEntry) string {
	if e.AskedBy == nil {
		return ""
	}
	return question.AskerText(*e.AskedBy)
}

// withID returns a name, followed by the ID in the records if that differs.
func withID(name, id string) string {
	if name == id || id == "" {
		return name
	}
	return name + " (" + id + ")"
}
