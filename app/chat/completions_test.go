package chat

import (
	"slices"
	"testing"
	"testing/synctest"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestWordBeforeTheCursorIsFound(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]struct {
		what, word string
		start      int
	}{
		"":                   {"", "", 0},
		"/":                  {"/", "/", 0},
		"/mo":                {"/", "/mo", 0},
		"/model ":            {"/model", "", 7},
		"/model an":          {"/model", "an", 7},
		"/model a b":         {"", "", 0},
		"/compact 5":         {"", "", 0},
		"see /tmp":           {"", "", 0},
		"line\n/new":         {"", "", 0},
		"@":                  {"@", "", 0},
		"build it on @lap":   {"@", "lap", 12},
		"read (@src/ma":      {"@", "src/ma", 6},
		"mail a@b.example":   {"", "", 0},
		"@lap is ready":      {"", "", 0},
		"the chat “@x":       {"@", "x", 12},
		"two lines\n@s":      {"@", "s", 10},
		"/model x/y @laptop": {"@", "laptop", 11},
	} {
		what, word, start := completionWord(before)
		if what != want.what || word != want.word || want.what != "" && start != want.start {
			t.Errorf("%q: %q %q at %d, want %+v", before, what, word, start, want)
		}
	}
}

func TestComposerOffersOnlyUsableActions(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "server", Name: "Big server", Online: true, Files: true, Host: hostWith(true)}, {ID: "nas"}}
		f.Snapshot.Sessions = []protocol.SessionEntry{{SessionKey: "a", Title: "This one"}, {SessionKey: "b", Title: "Photos"}}
		feedtest.On(f, protocol.SkillsStatus, func(protocol.SkillsParams) (protocol.SkillsStatusResult, error) {
			return protocol.SkillsStatusResult{Skills: []protocol.SkillStatusEntry{
				{Name: "deploy", Description: "Puts it live", Enabled: true, Eligible: true}, {Name: "disabled", Eligible: true}, {Name: "depends", Enabled: true},
			}}, nil
		})
		feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			if p.Path == "src/" {
				return protocol.FilesListResult{Entries: []protocol.FileInfo{{Name: "main file.go", Kind: protocol.FileRegular}}}, nil
			}
			return protocol.FilesListResult{Entries: []protocol.FileInfo{{Name: "src", Kind: protocol.FileFolder}, {Name: "README.md"}, {Name: ".git"}}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		synctest.Wait()
		c := NewModel(a, "a")
		for before, want := range map[string][]string{
			"/comp":       {"/compact", "/compact undo"},
			"/de":         {"Use the skill “deploy”: "},
			"/mode tr":    {"trust 15", "trust 60"},
			"/think h":    {"high", "xhigh"},
			"@":           {"@server ", "@nas ", "README.md ", "@src/", "the skill “deploy” ", "the chat “Photos” (b) "},
			"use @big":    {"@server "},
			"@pho":        {"the chat “Photos” (b) "},
			"@.g":         {".git "},
			"see @src/ma": {`"src/main file.go" `},
			"@nothing":    nil,
			"plain":       nil,
		} {
			var got []string
			for _, o := range c.Complete(t.Context(), before, "server").List {
				got = append(got, o.Insert)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q offers %q, want %q", before, got, want)
			}
		}
		if n := len(c.Complete(t.Context(), "/", "").List); n < len(slashCommands) {
			t.Errorf("/ offers %d, want all %d commands", n, len(slashCommands))
		}
		if got := c.Complete(t.Context(), "@R", "nas").List; len(got) > 0 && got[0].Icon == "file" {
			t.Errorf("files of a machine that is offline: %+v", got)
		}
	})
}

// hostWith is a machine that protects start-up files, or not.
func hostWith(enforced bool) *protocol.HostInfo {
	return &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: enforced}}}}
}

func TestComposerOffersTrustWhereAMachineProtects(t *testing.T) {
	for _, isProtected := range []bool{true, false} {
		v := feed.View{Machines: []protocol.NodeInfo{{ID: "pi", Online: true, Host: hostWith(isProtected)}}}
		if n := len(arguments("/mode", v)); (n == len(chats.ModeChoices)) != isProtected {
			t.Errorf("protected %v: the composer offers %d modes of %d", isProtected, n, len(chats.ModeChoices))
		}
	}
}
