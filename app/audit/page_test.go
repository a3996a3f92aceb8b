package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

type gateway struct {
	lines  []protocol.AuditEntry // newest first
	broken protocol.AuditVerifyResult
	did    []string
	fail   error
	gone   bool // the approval granted nothing
}

func (g *gateway) Invoke(_ context.Context, _ string, params any) (json.RawMessage, error) {
	var result any = g.broken
	switch p := params.(type) {
	case protocol.AuditListParams:
		result = g.list(p)
	case protocol.QuestionParams:
		g.did = append(g.did, "undo "+string(p.ID))
		if g.gone {
			return nil, protocol.ErrNotFound.With("it gave nothing")
		}
		result = protocol.QuestionUndoResult{Rules: 1}
	case protocol.RuleParams:
		g.did = append(g.did, "delete "+p.ID)
		result = protocol.OK{}
	}
	raw, err := protocol.Marshal(result)
	return raw, errors.Join(err, g.fail)
}

func (g *gateway) list(p protocol.AuditListParams) protocol.AuditListResult {
	g.did = append(g.did, fmt.Sprintf("list %s %d %d %s %s %s", p.Kind, p.After, p.Before, p.Query, p.Node, p.SessionKey))
	var out []protocol.AuditEntry
	for _, e := range g.lines {
		if (p.Kind == "" || e.Kind == p.Kind) && (p.Before == 0 || e.Seq < p.Before) && strings.Contains(e.What, p.Query) &&
			(p.Node == "" || e.Node == p.Node) && (p.SessionKey == "" || e.SessionKey == p.SessionKey) {
			out = append(out, e)
		}
	}
	return protocol.AuditListResult{Entries: out[:min(len(out), p.Limit)], More: len(out) > p.Limit}
}

type bench struct {
	*Page
	pagetest.Host
	g    *gateway
	t    *testing.T
	w    fyne.Window
	file strings.Builder
}

// Open writes the file of an export.
func (b *bench) Open(to host.Target) {
	f, ok := to.(host.SaveFile)
	if !ok {
		b.Host.Open(to)
		return
	}
	text, err := f.Write(b.t.Context(), &b.file)
	b.Say(fmt.Sprint(f.Name, " ", text, " ", err))
}

func newBench(t *testing.T, mode style.Mode) *bench {
	_, app := pagetest.Start(t, mode)
	b := &bench{t: t, g: &gateway{broken: protocol.AuditVerifyResult{Lines: 4}}}
	one := 1
	b.g.lines = []protocol.AuditEntry{
		{
			Seq: 4, At: 990_000, Kind: protocol.AuditCall, By: "owner this computer", Node: "server", SessionKey: "main", Tool: "Bash", What: "make test", Verdict: "allow", Why: "allowed node",
			Approval: "q1", State: "failed", ExitCode: &one, Hash: "abc",
		},
		{Seq: 3, At: 980_000, Kind: protocol.AuditRuleMade, By: "owner", Rule: "r1", Approval: "q1", What: "Allow make test", Policy: json.RawMessage(`{"tool":"Bash"}`), Hash: "abb"},
		{Seq: 2, At: 970_000, Kind: protocol.AuditCall, By: "nobody", Node: "nas", Tool: "Write", What: "/etc/passwd", Verdict: "deny", Why: "nobody was there to ask", Hash: "aba"},
		{Seq: 1, At: 960_000, Kind: protocol.AuditCall, By: "default", Node: "nas", Tool: "Bash", What: "ls", Verdict: "allow", Rule: "r9", State: "completed", Hash: "aaa"},
	}
	app.Update(func(v *feed.View) {
		v.Machines = []protocol.NodeInfo{{ID: "nas", Name: "Cellar"}, {ID: "server"}}
		v.Sessions.List = []protocol.SessionEntry{{SessionKey: "main", Title: "The parser"}}
	}, app.Feed.Machines, app.Sessions)
	b.Page = newPage(b.g, host.Env{Host: b, Feed: app.Feed})
	b.run = func(work func(context.Context) error, done func(error)) { done(work(t.Context())) }
	b.now = func() time.Time { return time.UnixMilli(1_000_000) }
	b.w = pagetest.Window(t, b.Box, 880, 560)
	b.Load()
	return b
}

func TestLinesSayWhoWhatWhereAndHowItEnded(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "audit", style.Dark: "audit-dark"} {
		b := newBench(t, mode)
		pagetest.Shot(t, b.w, name)
		pagetest.Shows(t, b.Box, "Chat “The parser”: run “make test” on server", "You always allow it on this machine", "failed with exit code 1", "Created the rule: Allow make test", "Denied: nobody was there to ask", "Write /etc/passwd on Cellar")
		b.open(0)
		pagetest.Shot(t, b.w, name+"-one")
		pagetest.Shows(t, b.Box, "Revoke this permission", "Open chat", "q1", "abc", "The parser (main)")
	}
}

func TestEntryOfARuleOffersToDeleteIt(t *testing.T) {
	b := newBench(t, style.Light)
	i := slices.IndexFunc(b.all, func(e protocol.AuditEntry) bool { return e.Rule != "" && e.Approval == "" })
	b.open(i)
	pagetest.Shows(t, b.Box, "Delete this rule")
}

func TestOnlyFinishedCallsHaveATick(t *testing.T) {
	for s, want := range map[string]string{
		protocol.CallDone: "check", protocol.CallFailed: "cross", protocol.CallCancelled: "stop", protocol.CallUnknown: "question",
	} {
		e := protocol.AuditEntry{Kind: protocol.AuditCall, Verdict: "allow", State: s}
		if got := item(e, feed.View{}, time.UnixMilli(0)).Icon; got != want {
			t.Errorf("%s: got %s, want %s", s, got, want)
		}
	}
}

func TestEmptyAndBrokenLog(t *testing.T) {
	b := newBench(t, style.Light)
	b.verify()
	pagetest.Shows(t, b.Box, "4 entries verified")
	b.g.broken = protocol.AuditVerifyResult{Lines: 4, Broken: 2, Why: "its hash is another"}
	b.verify()
	pagetest.Shows(t, b.Box, "Entry 2 does not match the entry before it: its hash is another.")
	b.g.lines = nil
	b.Load()
	b.verifyResult.Set("", style.ColorMuted)
	golden.Markup(t, "empty", b.Box)
	b.g.fail = errors.New("no connection")
	b.Load()
	pagetest.Shows(t, b.Box, "The audit log could not be loaded.", "no connection")
}

func TestLogIsFilteredAndSearched(t *testing.T) {
	b := newBench(t, style.Light)
	b.search.SetText("passwd")
	if len(b.all) != 1 || b.all[0].Seq != 2 || !strings.Contains(b.g.did[len(b.g.did)-1], "passwd") {
		t.Errorf("found %v by %v", b.all, b.g.did)
	}
	b.search.SetText("")
	b.machines()[1].Action()
	if len(b.all) != 2 || b.all[0].Node != "nas" || b.node.Text != "Cellar" {
		t.Errorf("of one machine %v", b.all)
	}
	b.chats()[1].Action()
	if len(b.all) != 0 || b.chat.Text != "The parser" {
		t.Errorf("of a chat that had nothing there %v", b.all)
	}
	pagetest.Shows(t, b.Box, "No entries found")
	b.machines()[0].Action()
	if len(b.all) != 1 || b.all[0].SessionKey != "main" {
		t.Errorf("of one chat %v", b.all)
	}
	b.chats()[0].Action()
	b.kinds()[2].Action()
	b.times()[1].Action()
	if len(b.all) != 1 || b.all[0].Kind != protocol.AuditRuleMade || b.params.After != 1_000_000-3_600_000 {
		t.Errorf("shown %v since %d", b.all, b.params.After)
	}
}

func TestOlderLinesAreLoadedOnDemand(t *testing.T) {
	b := newBench(t, style.Light)
	b.g.lines = nil
	for i := range 500 {
		b.g.lines = append(b.g.lines, protocol.AuditEntry{Seq: int64(500 - i), Kind: protocol.AuditCall, By: "owner", Tool: "Bash", What: "ls", Verdict: "allow"})
	}
	b.Load()
	for range 5 {
		b.next()
	}
	if len(b.all) != 500 || b.all[499].Seq != 1 || b.olderButton.Visible() {
		t.Errorf("got %d lines; want all of length 500, all[499].Seq 1 and not olderButton.Visible", len(b.all))
	}
}

func TestGrantIsRevokedFromItsLine(t *testing.T) {
	b := newBench(t, style.Light)
	b.g.did = nil
	b.undo(b.all[0])
	if b.g.did[0] != "undo q1" || b.Did[0] != "say Revoked: 1 rule. Calls that already ran are not undone." {
		t.Errorf("did %v, said %v", b.g.did, b.Did)
	}
	b.g.gone, b.g.did, b.Did = true, nil, nil
	b.undo(b.all[0]) // it granted nothing and names no rule
	b.undo(b.all[3])
	if b.Did[0] == "" || !strings.HasPrefix(b.Did[0], "say Nothing was revoked") || strings.Join(b.g.did[:2], ", ") != "undo q1, delete r9" {
		t.Errorf("did %v, said %v", b.g.did, b.Did)
	}
}

func TestLogIsExported(t *testing.T) {
	b := newBench(t, style.Light)
	b.kinds()[1].Action()
	b.export(true)
	b.export(false)
	if got := b.file.String(); strings.Count(got, "\nseq,") != 0 || !strings.HasPrefix(got, "seq,at,kind,") || strings.Count(got, "make test") != 2 || strings.Contains(got, "Allow make test") {
		t.Errorf("got %q, want the calls as a table and as JSON lines", got)
	}
	if want := []string{"say fairlead-audit.csv 3 entries exported. <nil>", "say fairlead-audit.jsonl 3 entries exported. <nil>"}; !slices.Equal(b.Did, want) {
		t.Errorf("said %q, want %q", b.Did, want)
	}
}
