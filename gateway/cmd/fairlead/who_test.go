package main

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestListsShowDisplayNames(t *testing.T) {
	t.Parallel()
	k := nameBook{machines: names{"nas": "The big one"}, chats: map[protocol.SessionKey]string{"agent:main:1": "Photos", "agent:main:2": ""}}
	for by, want := range map[string]string{
		"owner cli-8d3f5a60-1c1b":   "owner on the command line",
		"owner desktop-8d3f5a60":    "owner in a window",
		"owner this computer":       "owner this computer",
		"owner phone":               "owner phone",
		"agent agent:main:1":        "agent in Photos",
		"agent agent:main:2":        "agent in agent:main:2",
		"agent agent:main:3":        "agent in agent:main:3",
		"rule 7e0ea5d1-46f6":        "rule allow ls",
		"schedule nightly":          "schedule nightly",
		"default":                   "default",
		"channel xmpp a\x1b[31m\nb": "channel xmpp a�[31m�b",
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			if got := k.principalName(by, "Your rule: allow ls"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := k.principalName("rule 7e0e", "7e0e: allow ls -la"); got != "rule allow ls -la" {
		t.Errorf("got %q, want the text of the rule", got)
	}
	for want, got := range map[string]string{
		"Bash on The big one": k.toolAndMachine("nas", "Bash"), "Bash on box": k.toolAndMachine("box", "Bash"), "Read in the gateway": k.toolAndMachine(protocol.NativePrefix, "Read"), "Revert on box": k.toolAndMachine("box", protocol.ActRevert), "": k.toolAndMachine("nas", ""),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAuditIsPrintedInTheWordsOfTheWindows prints an app's denied command.
func TestAuditIsPrintedInTheWordsOfTheWindows(t *testing.T) {
	var out strings.Builder
	e := protocol.AuditEntry{
		Seq: 7, Kind: protocol.AuditCall, Tool: "command", Node: "nas", What: "rm -rf build", By: "owner this computer", Approval: "a", Verdict: "deny",
		Why: "the question was denied", State: protocol.CallDenied, AskedBy: &protocol.AskedBy{Kind: protocol.AskedByApp, Name: "MCP CLI Proxy"},
	}
	if err := printAudit(&out, protocol.AuditListResult{Entries: []protocol.AuditEntry{e}}, nameBook{machines: names{"nas": "tower"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(strings.Fields(out.String()), " "), "MCP CLI Proxy: run “rm -rf build” on tower you denied it"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
}
