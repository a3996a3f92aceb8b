package chats

import (
	"cmp"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
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

// TrustLimit says on which machines a trusted chat still asks for unknown commands, or why trust is
// not available; empty if it is, everywhere.
func TrustLimit(nodes []protocol.NodeInfo) (text string, available bool) {
	machines, everywhere := protocol.Unprotected(nodes)
	if everywhere {
		return protocol.NotOffered("Trust", machines), false
	}
	return protocol.StillAsks(machines), true
}

// ModeOf returns a chat's present mode: an expired trust mode asks again.
func ModeOf(s protocol.SessionEntry, now time.Time) protocol.ApprovalMode {
	var m protocol.ApprovalMode
	if s.Settings != nil && s.Settings.Approvals != nil {
		m = *s.Settings.Approvals
	}
	if m.Mode == "" || m.Mode == protocol.ModeTrust && m.Until <= now.UnixMilli() {
		return protocol.ApprovalMode{Mode: protocol.ModeAsk}
	}
	return m
}

// ModeWord names a mode in a word or two, for a header. A trust has the time left, in minutes.
func ModeWord(m protocol.ApprovalMode, now time.Time) string {
	if m.Mode == protocol.ModeTrust {
		return "Trust, " + wording.MinutesLeft(m.Until, now)
	}
	words := map[string]string{protocol.ModeAcceptEdits: "Accept file changes", protocol.ModeReadOnly: "Read only", protocol.ModePaused: "Ask for every call"}
	return cmp.Or(words[m.Mode], "Ask")
}

// SetMode sets a chat's mode.
func (c *Chats) SetMode(key protocol.SessionKey, choice ModeChoice) {
	m := protocol.ApprovalMode{Mode: choice.Mode}
	if choice.For > 0 {
		m.Until = time.Now().Add(choice.For).UnixMilli()
	}
	feed.Start(c.feed, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Approvals: &m}})
}
