package feed

import (
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// AuditLine describes an entry of the audit log and its outcome, with machines and chats by name.
func AuditLine(e protocol.AuditEntry, v View) (title, outcome string) {
	return display.AuditLine(e, display.Names{Machine: v.Machines.Name, Chat: v.ChatName})
}

// AuditIcon returns the icon of an entry, and whether it is one of a call that was denied or failed,
// or whose outcome is unknown.
func AuditIcon(e protocol.AuditEntry) (icon string, bad, unclear bool) {
	switch {
	case e.Kind != protocol.AuditCall:
		return "edit", false, false
	case e.Verdict == "deny":
		return "denied", true, false
	case display.AuditFailed(e):
		return "cross", true, false
	case e.State == protocol.CallRunning:
		return "transfer", false, false
	case e.State == protocol.CallCancelled:
		return "stop", false, false
	case e.State == protocol.CallUnknown:
		return "question", false, true
	}
	return "check", false, false
}
