// Package display words what the protocol's types contain for a person: in windows, on the command
// line and in messages of the gateway.
package display

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Request words the question about a device as a question and a sentence.
func Request(q protocol.Question) (question, text string) {
	d := q.Pairing.Device
	name := format.Line(d.Name, 60)
	switch {
	case q.Kind == protocol.AskWiden:
		return "Allow more on “" + name + "”?", "It offers more than you allowed: " + strings.Join(q.Pairing.Wider, "; ") + "."
	case d.Role == protocol.RoleClient:
		return "Pair “" + name + "”?", "It wants to control Fairlead."
	}
	return "Pair “" + name + "”?", "It wants to be a machine that the agent can use."
}

// Role is the word for a device's role.
func Role(role string) string {
	if role == protocol.RoleClient {
		return "controller"
	}
	return "machine"
}

// Sandbox turns the one line in which a machine describes its sandbox ([protocol.HostInfo] and
// [protocol.Question], Sandbox) into plain words: "files: changes in /srv/app only · network: off ·
// enforced". Unknown parts are passed through. h may be nil.
func Sandbox(sandbox string, h *protocol.HostInfo) string {
	files, network, ok := strings.Cut(sandbox, ", network ")
	files, fine := strings.CutPrefix(files, "files ")
	if !ok || !fine {
		return sandbox
	}
	switch files {
	case "workspace-write":
		files = "changes in " + writable(h) + " only" + exceptProtected(h)
	case "read-only":
		files = "no changes"
	}
	switch network {
	case "blocked":
		network = "off"
	case "allowed":
		network = "on"
	}
	words := "files: " + files + " · network: " + network
	if !strings.Contains(words, protocol.NotEnforced) {
		words += " · enforced"
	}
	return words
}

// exceptProtected says that commands cannot change files that start programs, where a machine
// enforces that.
func exceptProtected(h *protocol.HostInfo) string {
	if h == nil || h.Enforcement == nil || !protects(h.Enforcement) {
		return ""
	}
	return ", except files that start programs"
}

func protects(e *protocol.Enforcement) bool {
	return slices.ContainsFunc(e.Checks, func(c protocol.EnforcedCheck) bool { return c.ID == "fs.write.protected" && c.Enforced })
}

// writable describes what commands may change on a machine.
func writable(h *protocol.HostInfo) string {
	if h == nil || h.Workspace == "" {
		return "the workspace and the allowed folders"
	}
	if slices.ContainsFunc(h.Folders, func(f protocol.Folder) bool { return !f.ReadOnly && f.Path != h.Workspace }) {
		return h.Workspace + " and the allowed folders"
	}
	return h.Workspace
}

// RuleEnd is a choice for the lifetime of a rule that an answer saves. Key is what a person types
// to choose it.
type RuleEnd struct {
	Key, Words string
	at         func(now time.Time) time.Time // nil: never expires
}

// RuleEnds are the choices; the first is the default.
var RuleEnds = []RuleEnd{
	{"never", "no end", nil},
	{"1h", "1 hour", func(now time.Time) time.Time { return now.Add(time.Hour) }},
	{"today", "today", func(now time.Time) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	}},
	{"30d", "30 days", func(now time.Time) time.Time { return now.AddDate(0, 0, 30) }},
}

// At returns the expiry, in Unix milliseconds, of a rule that is saved now, by the calendar of
// now's location; 0 is never.
func (e RuleEnd) At(now time.Time) int64 {
	if e.at == nil {
		return 0
	}
	return e.at(now).UnixMilli()
}

// RuleEndByKey finds a choice by its key.
func RuleEndByKey(key string) (RuleEnd, bool) {
	for _, e := range RuleEnds {
		if e.Key == key {
			return e, true
		}
	}
	return RuleEnd{}, false
}

// FileContent describes the new content of a file that a question cannot show; "" for nil.
func FileContent(c *protocol.FileContent) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s, SHA-256 %s", format.Size(c.Bytes), c.Type, c.SHA256)
}
