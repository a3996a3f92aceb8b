package protocol

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestToolNamesAreCutAtTheFirstSeparator(t *testing.T) {
	t.Parallel()
	for name, want := range map[ToolName]struct {
		node NodeID
		tool string
		ok   bool
	}{
		"laptop__Bash":     {"laptop", "Bash", true},
		"laptop:Bash":      {"laptop", "Bash", true},
		"a__b__c":          {"a", "b__c", true},
		"gsv__ReadFile":    {"gsv", "ReadFile", true},
		"a:b__c":           {"a:b", "c", true},
		"my_box__tool_one": {"my_box", "tool_one", true},
		"Bash":             {},
		"":                 {},
		"__Bash":           {},
		"laptop__":         {},
		"laptop_Bash":      {},
		":Bash":            {},
	} {
		node, tool, ok := name.Split()
		if node != want.node || tool != want.tool || ok != want.ok {
			t.Errorf("%q = %q, %q, %v; want node %v, tool %v and ok %v", name, node, tool, ok, want.node, want.tool, want.ok)
		}
	}
}

func FuzzToolName(f *testing.F) {
	for _, s := range []string{"laptop__Bash", "a__b__c", "a:b", "__", "a____b", "", "a_", "ä__ö"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		node, tool, ok := ToolName(s).Split()
		if !ok {
			return
		}
		if node == "" || tool == "" {
			t.Fatalf("%q has an empty part", s)
		}
		if id, err := ParseNodeID(string(node)); err == nil {
			if n, tl, ok := NewToolName(id, tool).Split(); !ok || n != id || tl != tool {
				t.Fatalf("%q: %q and %q are joined to something else", s, node, tool)
			}
		}
	})
}

func TestNodeIDs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"laptop", "node-tower", "A_1", strings.Repeat("x", MaxNodeID)} {
		if id, err := ParseNodeID(good); err != nil || string(id) != good {
			t.Errorf("%q: got %v; want no error and id %v", good, err, good)
		}
	}
	for _, bad := range []string{"", "a b", "a.b", "a__b", "a_", "gsv", "GSV", "ä", "a:b", strings.Repeat("x", MaxNodeID+1)} {
		if _, err := ParseNodeID(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestPeersMayHaveLongerNodeIDsWithDots(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"node-mac.local", "laptop", "a.b.c", "node-" + strings.Repeat("x", 253)} {
		if id, err := ParsePeerNodeID(good); err != nil || string(id) != good {
			t.Errorf("%q: got %q and %v, want it accepted", good, id, err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".a", "a.", "a b", "a/b", `a\b`, "a:b", "a__b", "a_", "gsv", "ä", "a\x1b[2J", "a\u202eb", strings.Repeat("x", 259)} {
		if id, err := ParsePeerNodeID(bad); err == nil {
			t.Errorf("%q: got %q, want an error", bad, id)
		}
	}
}

func TestToolNamesFitModels(t *testing.T) {
	t.Parallel()
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := make(map[ToolName]string)
	for _, id := range []string{
		"laptop", "gsv", "a-b", "a.b", "a-.b", strings.Repeat("x", MaxNodeID), strings.Repeat("x", MaxNodeID+1), strings.Repeat("x", MaxNodeID+2),
		"node-mac.local", "node-mac.lan", "node-" + strings.Repeat("long.", 50) + "a", "node-" + strings.Repeat("long.", 50) + "b", "gsv.local", "1.2",
	} {
		full := NewToolName(NodeID(id), "Bash")
		name := full.ForModel()
		if !legal.MatchString(string(name)) {
			t.Errorf("%s: got %q, want a name that model APIs accept", id, name)
		}
		if other, twice := seen[name]; twice {
			t.Errorf("%s and %s are both %q", id, other, name)
		}
		seen[name] = id
		if _, err := ParseNodeID(id); (err == nil || id == NativePrefix) && name != full {
			t.Errorf("%s: got %q, want %q unchanged", id, name, full)
		}
		if again := name.ForModel(); again != name {
			t.Errorf("%s: got %q from %q, want it unchanged", id, again, name)
		}
	}
	if got, want := NodeID("node-mac.local").ToolPrefix(), NodeID("node-mac-local-31977b56"); got != want {
		t.Errorf("got %q, want %q: it must stay the same", got, want)
	}
}

func FuzzCleanNodeID(f *testing.F) {
	for _, s := range []string{"tower.lan", "", "gsv", "GSV", "__", "a__b", "_-", "Jörgs MacBook", strings.Repeat("ü_", 40), strings.Repeat("x", 39) + "_y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := ParseNodeID(string(CleanNodeID(s))); err != nil {
			t.Fatalf("%q became %q: %v", s, CleanNodeID(s), err)
		}
	})
}

func TestIDsAreUUIDs(t *testing.T) {
	t.Parallel()
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 100 {
		id := NewID()
		if !uuid.MatchString(id) || seen[id] {
			t.Fatalf("got %s, want a new UUID", id)
		}
		seen[id] = true
	}
}

func TestCallIDsSortByTime(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	synctest.Test(t, func(t *testing.T) {
		last := CallID("")
		for range 100 {
			id := NewCallID()
			if !form.MatchString(string(id)) || id <= last {
				t.Fatalf("got %s after %s, want an ID that sorts later", id, last)
			}
			last = id
			time.Sleep(time.Millisecond)
		}
	})
}
