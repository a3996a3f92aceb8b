package state

import (
	"time"

	"fairlead/gateway/protocol"
)

// ModeChoice is one of the approval modes of a chat.
type ModeChoice struct {
	Mode string
	For  time.Duration // duration; 0 is unlimited
	Text string
}

// ModeChoices are all modes, the strictest last.
var ModeChoices = []ModeChoice{
	{protocol.ModeAsk, 0, "Ask"},
	{protocol.ModeAcceptEdits, 0, "Accept file changes in the workspace"},
	{protocol.ModeTrust, 15 * time.Minute, "Trust for 15 minutes"},
	{protocol.ModeTrust, time.Hour, "Trust for 1 hour"},
	{protocol.ModeReadOnly, 0, "Read only"},
	{protocol.ModePaused, 0, "Ask for every call"},
}

// ModeOf returns a chat's present mode: an expired trust mode asks again.
func ModeOf(s protocol.SessionEntry, now time.Time) protocol.ApprovalMode {
	if s.Settings == nil || s.Settings.Approvals == nil || s.Settings.Approvals.Mode == "" {
		return protocol.ApprovalMode{Mode: protocol.ModeAsk}
	}
	m := *s.Settings.Approvals
	if m.Mode == protocol.ModeTrust && m.Until <= now.UnixMilli() {
		return protocol.ApprovalMode{Mode: protocol.ModeAsk}
	}
	return m
}

// ModeWord names a mode in a word or two, for a header.
func ModeWord(m protocol.ApprovalMode) string {
	switch m.Mode {
	case protocol.ModeAcceptEdits:
		return "accept edits"
	case protocol.ModeReadOnly:
		return "read only"
	case protocol.ModeTrust:
		return "trusted until " + time.UnixMilli(m.Until).Format("15:04")
	case protocol.ModePaused:
		return "ask always"
	}
	return "ask"
}

// SetMode sets a chat's mode.
func (c *Chats) SetMode(key protocol.SessionKey, choice ModeChoice) {
	m := protocol.ApprovalMode{Mode: choice.Mode}
	if choice.For > 0 {
		m.Until = time.Now().Add(choice.For).UnixMilli()
	}
	callInBackground(c.app, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Approvals: &m}})
}
