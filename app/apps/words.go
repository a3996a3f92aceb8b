package apps

import (
	"cmp"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/grant"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// AppCalls describes an app's calls: when, what and where, and the outcome unless it succeeded.
func AppCalls(v feed.View, calls []protocol.JournalEntry, now time.Time) []wording.Fact {
	return lists.Map(calls, func(c protocol.JournalEntry) wording.Fact {
		outcome := ""
		if c.Status != protocol.CallDone {
			outcome = cmp.Or(callStateWords[c.Status], c.Status)
		}
		return wording.Fact{Name: format.Capital(format.When(c.RequestedAt, now)), Text: wording.Join(" · ", question.CallLine(c, v.Machines.Name(c.Node)), outcome)}
	})
}

// RunningCommand is a running command of an app, with visible control characters.
type RunningCommand struct{ ID, Text, Place string }

// AppCommands describes the running commands of an app, oldest first: what, where and since when.
func AppCommands(v feed.View, id protocol.AppID, now time.Time) []RunningCommand {
	var list []RunningCommand
	for _, c := range v.Apps.Commands {
		if c.App == id {
			text, _ := wording.Reveal(c.Text)
			list = append(list, RunningCommand{c.ID, text, v.Machines.Name(c.Node) + " · since " + format.When(c.StartedAt, now)})
		}
	}
	return list
}

// HasEnded reports whether an app's access was revoked or has expired.
func HasEnded(a protocol.App, now time.Time) bool {
	return a.RevokedAt > 0 || a.ExpiresAt > 0 && a.ExpiresAt <= now.UnixMilli()
}

// AppLine summarizes an app: what it is and what it may do.
func AppLine(v feed.View, a protocol.App, now time.Time) string {
	if HasEnded(a, now) {
		return appKind(a)
	}
	return wording.Join(" · ", appKind(a), grant.Text(a.Scopes...), machinesOf(v, a))
}

func appKind(a protocol.App) string {
	if a.Kind == protocol.AppToken {
		return "Token"
	}
	return "Signed in"
}

// machinesOf names the machines of an app; empty for all.
func machinesOf(v feed.View, a protocol.App) string {
	if len(a.Networks) > 0 {
		return "on " + grant.NetworksText(len(a.Nodes), len(a.Networks))
	}
	nodes := a.Nodes
	switch len(nodes) {
	case 0:
		return ""
	case 1, 2:
		return "on " + strings.Join(lists.Map(nodes, v.Machines.Name), " and ")
	}
	return "on " + format.Plural(len(nodes), "machine")
}

// AppPresence describes in a few words what runs for an app, when it was last used, or that its
// access has ended.
func AppPresence(v feed.View, a protocol.App, now time.Time) string {
	switch running := len(AppCommands(v, a.ID, now)); {
	case running > 0:
		return format.Plural(running, "command running", "commands running")
	case a.RevokedAt > 0:
		return "revoked"
	case HasEnded(a, now):
		return "expired"
	case a.LastUsedAt == 0:
		return "never used"
	}
	return "used " + format.When(a.LastUsedAt, now)
}

// AppFacts lists the known facts about an app.
func AppFacts(v feed.View, a protocol.App, now time.Time) []wording.Fact {
	var list wording.Facts
	switch {
	case a.RevokedAt > 0:
		list.Add("Access", "Revoked "+format.When(a.RevokedAt, now))
	case HasEnded(a, now):
		list.Add("Access", "Expired "+format.When(a.ExpiresAt, now))
	case a.ExpiresAt > 0:
		list.Add("Access", "Until "+format.When(a.ExpiresAt, now))
	default:
		list.Add("Access", "Until revoked")
	}
	kind := "A token that you made"
	if a.Kind == protocol.AppOAuth {
		kind = "An app that you signed in"
	}
	list.Add("Kind", kind)
	list.Add("Published by", a.ClientHost)
	list.Add("Created", format.Capital(format.When(a.CreatedAt, now)))
	last := "Never used"
	if a.LastUsedAt > 0 {
		last = format.Capital(format.When(a.LastUsedAt, now))
		if a.LastTool != "" {
			last += ", with " + a.LastTool
		}
	}
	list.Add("Last call", last)
	if a.Calls > 0 {
		list.Add("Calls", format.Plural(int(a.Calls), "call"))
	}
	return list
}

// callStateWords are the states of calls whose names are no words for the person.
var callStateWords = map[string]string{
	protocol.CallCancelled: "stopped",
	protocol.CallUnknown:   "outcome unknown",
}
