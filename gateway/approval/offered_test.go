package approval

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func offersOf(t *testing.T, r *Rules, d policy.Decision) []protocol.RuleOffer {
	t.Helper()
	var a protocol.Question
	if err := r.Offer(&a, d); err != nil {
		t.Fatal(err)
	}
	return a.Offers
}

// save saves the rules that an answer of ann chose.
func save(ctx context.Context, r *Rules, a protocol.Question) error {
	return r.SaveOffers("ann", a, func(c store.RuleChange) (bool, error) { return true, r.store.Put(ctx, c) })
}

func TestOfferedRuleIsMadeForItsScopeAlone(t *testing.T) {
	for scope, want := range map[string]map[string]policy.Verdict{
		protocol.ScopeFolder:  {"same": policy.Allow, "chat": policy.Allow, "folder": policy.Ask, "node": policy.Ask},
		protocol.ScopeMachine: {"same": policy.Allow, "chat": policy.Allow, "folder": policy.Allow, "node": policy.Ask},
		protocol.ScopeAlways:  {"same": policy.Allow, "chat": policy.Allow, "folder": policy.Allow, "node": policy.Allow},
	} {
		r := rulesOf(t, config.Default().ToolApproval)
		q := command("go vet ./gateway")
		d := r.Decide(t.Context(), q)
		if d.Verdict != policy.Ask || len(d.Offers) == 0 {
			t.Fatalf("got %+v; want Verdict Ask and some Offers", d)
		}
		a := protocol.Question{ID: "q1", Node: q.Node, SessionKey: q.Session, Preview: q.Preview, Host: q.Host, Offers: offersOf(t, r, d), Scope: scope}
		if err := save(t.Context(), r, a); err != nil {
			t.Fatal(scope, err)
		}
		rule := r.List().Rules[0]
		if rule.CreatedBy != "ann" || rule.CreatedFrom != "q1" || rule.Origin != protocol.RuleFromQuestion || rule.Words == "" || rule.Hits != 1 || rule.LastUsed == 0 {
			t.Errorf("got %+v; want a rule from question q1 by ann, used once, with its words", rule)
		}
		for name, verdict := range want {
			q := q
			preview := *q.Preview
			q.Preview = &preview
			switch name {
			case "chat":
				q.Session = "other"
			case "folder":
				q.Preview.Folder = "/elsewhere"
			case "node":
				q.Node, q.Tool = "m", "m__Bash"
			}
			if d := r.Decide(t.Context(), q); d.Verdict != verdict {
				t.Errorf("%s: %s: %+v, want %s", scope, name, d, verdict)
			}
		}
		if d := r.Decide(t.Context(), command("go vet ./node")); d.Verdict != policy.Ask {
			t.Errorf("%s: other words than were shown: %+v", scope, d)
		}
		if d := r.Decide(t.Context(), command("go vet ./gateway; curl example.org")); d.Verdict != policy.Ask {
			t.Errorf("%s: more than was offered: got %+v, want a question", scope, d)
		}
	}
}

func TestBroadRuleIsMadeOnlyWhenItIsChosen(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	q := command("go vet ./gateway")
	d := r.Decide(t.Context(), q)
	broad := -1
	for i, o := range offersOf(t, r, d) {
		if strings.Contains(o.Words, "anything after it") {
			broad = i
		}
	}
	if broad < 0 {
		t.Fatalf("got %+v; want broad at least 0", d.Offers)
	}
	a := protocol.Question{ID: "q", Node: q.Node, Preview: q.Preview, Offers: offersOf(t, r, d), Chosen: []int{broad}, Scope: protocol.ScopeAlways}
	if err := save(t.Context(), r, a); err != nil || r.Decide(t.Context(), command("go vet ./node")).Verdict != policy.Allow {
		t.Errorf(`got %v %+v; want no error and verdict allow for "go vet ./node"`, err, r.List())
	}
}

func TestFolderRuleIsForTheFolderOfTheCommand(t *testing.T) {
	for _, folder := range []string{"/home/me", "/", "/srv/app/sub", `C:\Users\me`} {
		r := rulesOf(t, config.Default().ToolApproval)
		q := command("uname -r")
		q.Preview.Folder = folder
		d := r.Decide(t.Context(), q)
		a := protocol.Question{ID: "q1", Node: q.Node, Preview: q.Preview, Host: q.Host, Scope: protocol.ScopeFolder}
		if err := r.Offer(&a, d); err != nil || len(a.Offers) == 0 {
			t.Fatalf("%s: got %d offers, %v; want no error and some Offers", folder, len(a.Offers), err)
		}
		shown := a.Offers[0].As[protocol.ScopeFolder]
		if err := save(t.Context(), r, a); err != nil {
			t.Fatal(folder, err)
		}
		saved := r.List().Rules[0]
		if saved.Words != shown.Words || string(saved.Policy) != string(shown.Policy) {
			t.Errorf("%s: got the rule %s, want the one that was shown: %s", folder, saved.Policy, shown.Policy)
		}
		if d := r.Decide(t.Context(), q); d.Verdict != policy.Allow {
			t.Errorf("%s: the same call again: got %s (%s), want allow", folder, d.Verdict, d.Reason)
		}
		q.Preview.Folder = "/elsewhere"
		if d := r.Decide(t.Context(), q); d.Verdict != policy.Ask && folder != "/" {
			t.Errorf("%s: a call in another folder: got %s, want ask", folder, d.Verdict)
		}
	}
	q := command("uname -r")
	q.Preview.Folder = "/home/me/a*b" // a rule cannot name it
	a := protocol.Question{Node: q.Node, Preview: q.Preview, Host: q.Host}
	r := rulesOf(t, config.Default().ToolApproval)
	if err := r.Offer(&a, r.Decide(t.Context(), q)); err != nil || slices.Contains(a.Choices, protocol.ScopeFolder) {
		t.Errorf("got choices %v (%v), want none for the folder", a.Choices, err)
	}
}

// TestRuleForEveryCallSaysSo describes rules that look at the tool only.
func TestRuleForEveryCallSaysSo(t *testing.T) {
	for rule, want := range map[string]string{
		`{"tool":"everything__echo","verdict":"allow"}`:                               "Allow any call of echo (everything), with any arguments",
		`{"tool":"everything__*","verdict":"allow"}`:                                  "Allow any call of any tool of everything, with any arguments",
		`{"tool":"everything__echo","verdict":"deny"}`:                                "Deny any call of echo (everything)",
		`{"tool":"Bash","verdict":"allow","cwd":"/srv/**","node":"nas"}`:              "Allow any call of Bash in /srv and below on nas, with any arguments",
		`{"tool":"*","verdict":"ask"}`:                                                "Ask about any call of any tool",
		`{"tool":"*__Write","verdict":"allow"}`:                                       "Allow any call of Write, wherever it runs, with any arguments",
		`{"tool":"Bash","verdict":"allow","when":[{"path":"x","op":"eq","value":1}]}`: "Allow any call of Bash under a condition",
		`{"tool":"Bash","argv":["make"],"verdict":"allow"}`:                           "Allow make",
	} {
		var p policy.Rule
		if err := json.Unmarshal([]byte(rule), &p); err != nil {
			t.Fatal(err)
		}
		if got := Describe(p); got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
	r := rulesOf(t, config.Default().ToolApproval)
	g := store.Grant{ID: "g", Session: "s", Node: "everything", Tool: "echo", Match: policy.ServerMatch, Words: "any call of everything__echo"}
	if rule, err := r.grantRule(g); err != nil || rule.Words != "Allow any call of echo (everything), with any arguments, in one chat" {
		t.Errorf(`permission of a chat: %q, %v; want "Allow any call of echo (everything), with any arguments, in one chat" and no error`, rule.Words, err)
	}
}

// A node of the specification sends no previews.
func TestReadingIsOfferedOnAMachineWithoutPreviews(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	request := func(tool string) policy.Request {
		return policy.Request{Node: "old", Tool: protocol.NewToolName("old", tool), Bare: tool, Args: json.RawMessage(`{"path":"x","pattern":"y"}`)}
	}
	for _, tool := range []string{"Write", "Edit", "Bash"} {
		if d := r.Decide(t.Context(), request(tool)); d.Verdict != policy.Ask || len(d.Offers) > 0 {
			t.Errorf("%s: got %+v, want a question without offers", tool, d)
		}
	}
	q := request("Glob")
	d := r.Decide(t.Context(), q)
	a := protocol.Question{ID: "q1", Node: q.Node, Scope: protocol.ScopeMachine}
	if err := r.Offer(&a, d); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Choices, []string{protocol.ScopeMachine}) || len(a.Offers) != 3 {
		t.Fatalf("choices %q, offers %+v; want Read, Glob and Grep on this machine", a.Choices, a.Offers)
	}
	if err := save(t.Context(), r, a); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"Read", "Glob", "Grep"} {
		if d := r.Decide(t.Context(), request(tool)); d.Verdict != policy.Allow {
			t.Errorf("%s: got %+v, want it allowed", tool, d)
		}
		other := request(tool)
		other.Node, other.Tool = "new", protocol.NewToolName("new", tool)
		if d := r.Decide(t.Context(), other); d.Verdict != policy.Ask {
			t.Errorf("%s on another machine: got %+v, want a question", tool, d)
		}
	}
	if d := r.Decide(t.Context(), request("Write")); d.Verdict != policy.Ask {
		t.Errorf("Write: got %+v, want a question", d)
	}
}
