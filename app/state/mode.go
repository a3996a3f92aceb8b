package state

import (
	"time"

	"fairlead/gateway/protocol"
)

// ModeChoice is a way of asking that a chat can have.
type ModeChoice struct {
	Mode  string
	For   time.Duration // how long from now on; 0 is until it is changed
	Words string
}

// ModeChoices are all of them, the strictest last.
var ModeChoices = []ModeChoice{
	{protocol.ModeAsk, 0, "Ask"},
	{protocol.ModeAcceptEdits, 0, "Accept changes of files in the workspace"},
	{protocol.ModeTrust, 15 * time.Minute, "Trust for 15 minutes"},
	{protocol.ModeTrust, time.Hour, "Trust for an hour"},
	{protocol.ModeReadOnly, 0, "Only read"},
	{protocol.ModePaused, 0, "Ask about every call"},
}

// ModeOf is a chat's way of asking now: a trust that ended asks again.
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

// ModeWord says a way of asking in a word or two, for a header.
func ModeWord(m protocol.ApprovalMode) string {
	switch m.Mode {
	case protocol.ModeAcceptEdits:
		return "accepts edits"
	case protocol.ModeReadOnly:
		return "only reads"
	case protocol.ModeTrust:
		return "trusted until " + time.UnixMilli(m.Until).Format("15:04")
	case protocol.ModePaused:
		return "asks everything"
	}
	return "ask"
}

// SetMode changes a chat's way of asking.
func (a *App) SetMode(key protocol.SessionKey, c ModeChoice) {
	m := protocol.ApprovalMode{Mode: c.Mode}
	if c.For > 0 {
		m.Until = time.Now().Add(c.For).UnixMilli()
	}
	act(a, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Approvals: &m}})
}
