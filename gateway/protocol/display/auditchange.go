package display

import (
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// changes are the entries of the audit log that are no calls, with the words before what changed.
var changes = map[string]string{
	protocol.AuditRuleMade:       "Created the rule",
	protocol.AuditRuleChanged:    "Changed the rule",
	protocol.AuditRuleDeleted:    "Deleted the rule",
	protocol.AuditRuleRestored:   "Restored the rule",
	protocol.AuditGrantWithdrawn: "Revoked the permission",
	protocol.AuditGrantRestored:  "Restored the permission",
}

// appActs and deviceActs are what the gateway records about an app or a device, for people.
var (
	appActs = map[string]string{
		"made a token for": "Created the token", "connected": "Connected the app", "changed": "Changed the app", "revoked": "Revoked the app", "refused": "Refused the app",
	}
	deviceActs = []struct{ recorded, words string }{
		{"rotated the token of", "Replaced the token of"},
		{"allowed more to", "Allowed more on"},
		{"paired", "Paired"},
		{"changed", "Changed"},
		{"revoked", "Revoked access for"},
		{"refused", "Refused"},
		{"forgot", "Removed"},
	}
	modes = map[string]string{
		protocol.ModeAsk: "ask", protocol.ModeAcceptEdits: "accept file changes", protocol.ModeTrust: "trust", protocol.ModeReadOnly: "read only",
		protocol.ModePaused: "ask for every call",
	}
)

// auditChange describes an entry that is no call: "Created the token “Backup script”".
func auditChange(e protocol.AuditEntry, n Names) string {
	chat := ""
	if e.SessionKey != "" {
		chat = " in “" + format.Clip(n.Chat(e.SessionKey), format.MaxTitle) + "”"
	}
	switch e.Kind {
	case protocol.AuditMode:
		mode, until, _ := strings.Cut(e.What, " until ")
		if words := modes[mode]; words != "" {
			return "Set approvals" + chat + " to “" + words + "”" + untilWords(until, e.At)
		}
	case protocol.AuditApp:
		did, name, ok := strings.Cut(e.What, " app ")
		if words := appActs[did]; ok && words != "" {
			return words + " “" + withoutID(name) + "”"
		}
	case protocol.AuditDevice:
		for _, act := range deviceActs {
			if name, ok := strings.CutPrefix(e.What, act.recorded+" "); ok {
				return act.words + " “" + withoutID(name) + "”"
			}
		}
	case protocol.AuditService, protocol.AuditNetwork:
		return format.Capital(e.What)
	case protocol.AuditServer:
		if did, name, ok := strings.Cut(e.What, " the server "); ok {
			return format.Capital(did) + " the MCP server “" + name + "”"
		}
	case protocol.AuditRun:
		return format.Capital(e.Verdict) + " a run to continue" + chat + ": " + e.What
	case protocol.AuditSender:
		if channel, sender, ok := strings.Cut(e.What, ":"); ok {
			return format.Capital(e.Verdict) + " messages of " + sender + " (" + ChannelName(channel) + ")"
		}
	}
	if words := changes[e.Kind]; words != "" {
		return words + ": " + e.What + chat
	}
	return format.Capital(joinParts(": ", e.Kind, e.What)) + chat + place(e.Node, n)
}

// untilWords says until when a mode holds, with the day if it is not the day on which it was set.
func untilWords(until string, set int64) string {
	end, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return ""
	}
	end = end.Local()
	if began := time.UnixMilli(set); end.Format(time.DateOnly) != began.Format(time.DateOnly) {
		return " until " + end.Format("2 January, 15:04")
	}
	return " until " + end.Format("15:04")
}

// withoutID removes the ID in parentheses at the end of a name.
func withoutID(name string) string {
	if at := strings.LastIndex(name, " ("); at > 0 && strings.HasSuffix(name, ")") {
		return name[:at]
	}
	return name
}
