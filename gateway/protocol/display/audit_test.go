package display

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

var someNames = Names{
	Machine: func(id protocol.NodeID) string {
		return map[protocol.NodeID]string{"nas": "Cellar"}[id] + map[protocol.NodeID]string{"tower": "tower", "vm": "vm"}[id]
	},
	Chat: func(protocol.SessionKey) string { return "Photos" },
}

func TestAuditReadsAsSentences(t *testing.T) {
	t.Parallel()
	two := 2
	const rule = "7e0ea5d1-46f6-47f5-b9ed-553f1e991bf7"
	app := &protocol.AskedBy{Kind: protocol.AskedByApp, Name: "MCP CLI Proxy"}
	run := func(change func(*protocol.AuditEntry)) protocol.AuditEntry {
		e := protocol.AuditEntry{Kind: protocol.AuditCall, Tool: "Bash", Node: "tower", What: "make", Approval: "a", SessionKey: "s", By: "owner this computer", Why: "allowed once", Verdict: "allow", State: protocol.CallDone}
		change(&e)
		return e
	}
	for want, e := range map[string]protocol.AuditEntry{
		"MCP CLI Proxy: run “uname -a && rm -rf build” on tower · you denied it": run(func(e *protocol.AuditEntry) {
			e.Tool, e.What, e.AskedBy, e.SessionKey, e.Verdict, e.State, e.Why = "command", "uname -a && rm -rf build", app, "", "deny", protocol.CallDenied, "the question was denied"
		}),
		"Chat “Photos”: run “make” on tower · you allowed it once":                          run(func(*protocol.AuditEntry) {}),
		"Chat “Photos”: run “make” on tower · you allowed it once, changed":                 run(func(e *protocol.AuditEntry) { e.Why = "edited once" }),
		"Chat “Photos”: run “make” on tower · you allowed it once, failed with exit code 2": run(func(e *protocol.AuditEntry) { e.ExitCode = &two }),
		"Chat “Photos”: run “make” on tower · you denied it on the command line: “not today”": run(func(e *protocol.AuditEntry) {
			e.By, e.Why, e.Verdict, e.State = "owner cli-x", "the question was denied: not today", "deny", protocol.CallDenied
		}),
		"Schedule “Backup”: run “make” on tower · not run: nobody answered in time": run(func(e *protocol.AuditEntry) {
			e.AskedBy, e.By, e.Why, e.Verdict, e.State = &protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "Backup"}, "nobody", "the question was expired", "deny", protocol.CallDenied
		}),
		"Ann@town.test (XMPP): run “make” on tower · you allowed it once in another window": run(func(e *protocol.AuditEntry) {
			e.AskedBy, e.By = &protocol.AskedBy{Kind: protocol.AskedByChannel, Name: "xmpp ann@town.test"}, "owner desktop-x"
		}),
		"Chat “Photos”: run “make” on tower · allowed by the rule “allow make”": run(func(e *protocol.AuditEntry) {
			e.Approval, e.By, e.Rule, e.Why = "", "rule "+rule, rule, "Your rule: allow make"
		}),
		"Chat “Photos”: run “make” on tower · allowed: You trust this chat, stopped": run(func(e *protocol.AuditEntry) {
			e.Approval, e.By, e.Why, e.State = "", "default", "You trust this chat", protocol.CallCancelled
		}),
		"You: run “make” on tower": run(func(e *protocol.AuditEntry) { e.Approval, e.Why = "", "You did this yourself" }),
		"You: run “make” on tower · on the command line, outcome unknown": run(func(e *protocol.AuditEntry) {
			e.Approval, e.By, e.State = "", "owner cli-x", protocol.CallUnknown
		}),
		"You: revert a.txt on Cellar":       {Kind: protocol.AuditCall, By: "owner", Node: "nas", Tool: protocol.ActRevert, What: "a.txt", Verdict: "allow", State: protocol.CallDone},
		"You: use Cron: add on the gateway": {Kind: protocol.AuditCall, By: "owner", Node: protocol.NativePrefix, Tool: "Cron", What: "add", Verdict: "allow", State: protocol.CallDone},
		"Started the MCP server “everything” on vm: no network": {
			Kind: protocol.AuditCall, By: "owner MCP server everything, no network", Node: "vm", Tool: "serve", What: "npx -y x", Why: "You did this yourself", Verdict: "allow", State: protocol.CallDone,
		},
		"You: run “make” on tower · failed to read file x: no such file": run(func(e *protocol.AuditEntry) {
			e.Approval, e.Why, e.State, e.Error = "", "You did this yourself", protocol.CallFailed, "Failed to read file x: no such file"
		}),
		"Start the MCP server “everything” on vm · failed": {
			Kind: protocol.AuditCall, By: "owner MCP server everything", Node: "vm", Tool: "serve", What: "npx -y x", Verdict: "allow", State: protocol.CallFailed,
		},
		"Sent big.bin to tower · continued after a restart": {
			Kind: protocol.AuditCall, By: "owner desktop-x", Node: protocol.NativePrefix, Tool: "Transfer", What: "@here:/srv/big.bin to tower:", Verdict: "allow", State: protocol.CallDone, Resumed: true,
		},
		"Sent big.bin to tower · by you in another window": {
			Kind: protocol.AuditCall, Tool: transferTool, What: "@here:/srv/big.bin to tower:", By: "owner desktop-2", Verdict: "allow", State: protocol.CallDone,
		},
		"Sent a from Cellar to the agent's files": {
			Kind: protocol.AuditCall, By: "owner", Node: protocol.NativePrefix, Tool: "Transfer", What: "nas:a to gsv:b", Verdict: "allow", State: protocol.CallDone,
		},
		"Undid the transfer of big.bin to tower": {
			Kind: protocol.AuditCall, By: "owner", Node: protocol.NativePrefix, Tool: "Transfer", What: "@here:/srv/big.bin to tower:", Verdict: "allow", State: protocol.CallDone, Undo: true,
		},
		"Undo the transfer of big.bin to tower · failed": {
			Kind: protocol.AuditCall, By: "owner", Node: protocol.NativePrefix, Tool: "Transfer", What: "@here:/srv/big.bin to tower:", Verdict: "allow", State: protocol.CallFailed, Undo: true,
		},
		"Created the token “Backup script” · by you":                      {Kind: protocol.AuditApp, By: "owner this computer", What: "made a token for app Backup script (app_ef5d)"},
		"Revoked access for “Anna's laptop” · by you on the command line": {Kind: protocol.AuditDevice, By: "owner cli-1", What: "revoked Anna's laptop (d1)"},
		"Set approvals in “Photos” to “trust” · by you":                   {Kind: protocol.AuditMode, By: "person", SessionKey: "s", What: protocol.ModeTrust},
		"Created the rule: Allow ls -la · by you":                         {Kind: protocol.AuditRuleMade, By: "owner", What: "Allow ls -la", Rule: rule},
		"Allowed messages of ann@town.test (XMPP) · by you":               {Kind: protocol.AuditSender, By: "owner", What: "xmpp:ann@town.test", Verdict: "allowed"},
		"Login: 3 more refused from 192.0.2.1":                            {Kind: protocol.AuditLogin, By: "nobody", What: "3 more refused from 192.0.2.1", Verdict: "deny"},
	} {
		title, outcome := AuditLine(e, someNames)
		if got := joinParts(" · ", title, outcome); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
}

// TestFailedCallIsNoDeniedOne has the two outcomes whose signs differ.
func TestFailedCallIsNoDeniedOne(t *testing.T) {
	t.Parallel()
	two := 2
	for name, c := range map[string]struct {
		e    protocol.AuditEntry
		want bool
	}{
		"denied":    {protocol.AuditEntry{Verdict: "deny", State: protocol.CallDenied}, false},
		"failed":    {protocol.AuditEntry{Verdict: "allow", State: protocol.CallFailed}, true},
		"exit code": {protocol.AuditEntry{Verdict: "allow", State: protocol.CallDone, ExitCode: &two}, true},
		"done":      {protocol.AuditEntry{Verdict: "allow", State: protocol.CallDone}, false},
	} {
		if got := AuditFailed(c.e); got != c.want {
			t.Errorf("%s: failed: got %t, want %t", name, got, c.want)
		}
	}
}

func TestTrustAndKeptChangesReadAsSentences(t *testing.T) {
	noon := time.Date(2026, 5, 3, 12, 0, 0, 0, time.Local)
	trust := func(until time.Time) protocol.AuditEntry {
		return protocol.AuditEntry{Kind: protocol.AuditMode, By: "person", SessionKey: "s", At: noon.UnixMilli(), What: "trust until " + until.Format(time.RFC3339)}
	}
	for want, e := range map[string]protocol.AuditEntry{
		"Set approvals in “Photos” to “trust” until 13:15":        trust(noon.Add(75 * time.Minute)),
		"Set approvals in “Photos” to “trust” until 4 May, 12:00": trust(noon.Add(24 * time.Hour).UTC()),
		"Chat “Photos”: keep the change of .husky/pre-commit on tower": {
			Kind: protocol.AuditCall, Tool: protocol.KeepTool, Node: "tower", What: ".husky/pre-commit", Approval: "a", SessionKey: "s", By: "owner this computer",
		},
	} {
		if got, _ := AuditLine(e, someNames); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
