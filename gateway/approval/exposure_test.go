package approval

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// lastUses are the times of last uses.
type lastUses map[string]int64

func (u lastUses) Record(id string)     { u[id] = time.Now().UnixMilli() }
func (u lastUses) Last(id string) int64 { return u[id] }

func TestOnlyWhatIsAllowedBeyondAChatIsExposed(t *testing.T) {
	cfg := config.Default().ToolApproval
	cfg.DefaultDecision = "allow"
	cfg.Rules = []config.ToolRule{{ID: "set", Tool: "Read", Decision: "allow"}, {ID: "no", Tool: "Write", Decision: "deny"}}
	r := rulesOf(t, cfg)
	r.uses = lastUses{}
	put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	put(t, r, `{"tool":"Bash","argv":["ls"],"verdict":"allow","expires":"2999-01-01T00:00:00Z"}`)
	put(t, r, `{"tool":"Bash","argv":["du"],"verdict":"allow","expires":"2001-01-01T00:00:00Z"}`)
	put(t, r, `{"tool":"Bash","argv":["rm"],"verdict":"deny"}`)
	put(t, r, `{"tool":"Bash","argv":["df"],"verdict":"allow","session":"agent:main:x"}`)
	for _, session := range []protocol.SessionKey{"agent:main:x", protocol.AppID("app_1").Grantee()} {
		q := command("uname -a")
		q.Session = session
		match, words, _ := q.SessionMatch()
		if err := r.grants.Put(t.Context(), store.Grant{ID: "g" + string(session), Session: session, Node: q.Node, Tool: q.Bare, Match: match, Words: words}); err != nil {
			t.Fatal(err)
		}
		q.Grants = []policy.SessionGrant{{ID: "g" + string(session), Node: q.Node, Tool: q.Bare, Match: match}}
		if d := r.Decide(t.Context(), q); d.Verdict != policy.Allow {
			t.Errorf("got %+v, want what was granted", d)
		}
	}
	list, err := r.Exposures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range list {
		got[e.Title] = true
		isSet := e.ID == protocol.ExposureGrant+":set"
		switch expires := strings.HasPrefix(e.Title, "Allow ls until "); {
		case expires != (e.ExpiresAt > 0) || expires == slices.Contains(e.Warnings, protocol.WarnNoExpiry):
			t.Errorf("%s: got that it expires at %d, with the warnings %v; want the time, or the warning", e.Title, e.ExpiresAt, e.Warnings)
		case isSet != (e.Close == nil):
			t.Errorf("%s: got %+v to close it, want it for all but rules of the settings", e.Title, e.Close)
		case e.Close != nil && e.Close.Undo == nil:
			t.Errorf("%s: got no way to undo its end, want one", e.Title)
		}
		if app := protocol.GrantPrefix + "gapp:app_1"; e.ID == protocol.ExposureGrant+":"+app && e.LastUsedAt == 0 {
			t.Errorf("%s: got no last use, want that of the call", e.Title)
		}
	}
	for _, want := range []string{"Allow everything that no rule names", "Allow make", "Allow exactly uname -a in /srv/app on n"} {
		if !got[want] {
			t.Errorf("got %v, want %s too", got, want)
		}
	}
	if len(list) != 5 {
		t.Errorf("got %v, want 5: neither what denies or has expired, nor what is for one chat", got)
	}
}
