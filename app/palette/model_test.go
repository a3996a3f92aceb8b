package palette

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// own are actions and pages of a program.
var own = []Entry{
	{Title: "Pair a machine", Kind: "Action", Words: "add connect"},
	{Title: "New chat", Kind: "Action"},
	{Title: "Machines", Kind: "Page"},
}

func titles(list []Entry) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Title)
	}
	return strings.Join(all, ", ")
}

// run runs a test with a gateway that has chats, machines, settings and files.
func run(t *testing.T, body func(t *testing.T, m *Model, g *feedtest.Gateway)) {
	feedtest.Run(t, feed.New, func(g *feedtest.Gateway) {
		g.Snapshot = protocol.FeedSnapshot{
			Sessions: []protocol.SessionEntry{{SessionKey: "a", Title: "Move the machine to the attic", LastActiveAt: 2}, {SessionKey: "b", Title: "Taxes", LastActiveAt: 1}},
			Nodes: []protocol.NodeInfo{
				{ID: "laptop", Name: "Laptop", Local: true, Online: true, Host: &protocol.HostInfo{Workspace: "/home/ann"}}, {ID: "tower", Name: "Tower", Online: true}, {ID: "nas", Name: "Cellar"},
			},
		}
		feedtest.On(g, protocol.ConfigSchema, func(protocol.Empty) (protocol.ConfigSchemaResult, error) {
			return protocol.ConfigSchemaResult{Fields: []protocol.ConfigField{
				{Path: "ui.textSize", Title: "Text size", Group: "Windows", Description: "Size of the text in windows."}, {Path: "hidden.one"},
			}}, nil
		})
		feedtest.On(g, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			if p.Node != "laptop" || p.Path != "" && p.Path != "~/" && p.Path != "/home/ann/" {
				return protocol.FilesListResult{}, protocol.ErrNotFound.With("there is no folder " + p.Path)
			}
			return protocol.FilesListResult{Path: "/home/ann", Entries: []protocol.FileInfo{
				{Name: "Documents", Kind: protocol.FileFolder}, {Name: "door.txt", Kind: "file"}, {Name: "music", Kind: protocol.FileFolder},
			}}, nil
		})
		feedtest.On(g, protocol.FilesChanges, func(protocol.FilesChangesParams) (protocol.FilesChangesResult, error) {
			return protocol.FilesChangesResult{Changes: []protocol.FileChange{{Path: "/home/ann/src/lexer.go"}, {Path: "/home/ann/src/lexer.go"}}}, nil
		})
	}, func(t *testing.T, f *feed.Feed, g *feedtest.Gateway) { body(t, NewModel(f, own), g) })
}

func TestBestEntriesComeFirst(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, m *Model, _ *feedtest.Gateway) {
		if err := m.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]string{
			"mach":       "Machines, Pair a machine, Move the machine to the attic, Laptop, Tower, Cellar",
			"a machine":  "Pair a machine, Move the machine to the attic, Machines, Laptop, Tower, Cellar",
			"connect":    "Pair a machine",
			"taxes":      "Taxes",
			"pause":      "Pause the agent",
			"cellar":     "Cellar", // which is offline, so it gets no files
			"send tower": "Send files to Tower",
			"size text":  "Text size",
			"textsize":   "Text size",
			"no such":    "",
			"lexer":      "lexer.go", // once, although the agent changed it twice
			"src lex":    "lexer.go",
		} {
			if got := titles(m.Find(query)); got != want {
				t.Errorf("%q: got %q, want %q", query, got, want)
			}
		}
	})
}

func TestPaletteBeginsWithChatsAndActions(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, m *Model, _ *feedtest.Gateway) {
		want := "Move the machine to the attic, Taxes, Main chat, Pair a machine, New chat, Pause the agent, " +
			"Open the files of Laptop, Open the files of Tower, Send files to Tower, Machines"
		if got := titles(m.Find(" ")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestPausedAgentIsResumed(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, m *Model, g *feedtest.Gateway) {
		g.Change(protocol.Change{Kind: protocol.ChangeStatus, Status: &protocol.Status{Paused: true}})
		found := m.Find("agent")
		if titles(found) != "Resume the agent" {
			t.Fatalf("got %q, want the way to resume", titles(found))
		}
		feedtest.On(g, protocol.AgentPause, func(p protocol.PauseParams) (protocol.Status, error) { return protocol.Status{Paused: p.Paused}, nil })
		found[0].Do()
		synctest.Wait()
		var p protocol.PauseParams
		calls := g.Called(protocol.AgentPause.Name)
		if len(calls) != 1 || json.Unmarshal(calls[0], &p) != nil || p.Paused {
			t.Errorf("got the calls %s, want one that resumes", calls)
		}
	})
}

func TestPathFindsFilesOfThisComputer(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, m *Model, _ *feedtest.Gateway) {
		for query, want := range map[string]string{"~": "Documents, door.txt, music", "~/do": "Documents, door.txt", "/home/ann/mu": "music", "~/x": ""} {
			got, err := m.Files(t.Context(), query)
			if err != nil || titles(got) != want {
				t.Errorf("%q: got %q, %v, want %q", query, titles(got), err, want)
			}
		}
		list, err := m.Files(t.Context(), "~/do")
		if err != nil || list[0].Target != (host.File{Machine: "laptop", Path: "/home/ann/Documents/"}) || list[1].Target != (host.File{Machine: "laptop", Path: "/home/ann/door.txt"}) {
			t.Errorf("got %+v, %v, want a folder and a file of the laptop", list, err)
		}
		_, err = m.Files(t.Context(), "/none/x")
		if got, want := m.noFolder(err), "This folder does not exist, or Fairlead may not read it. Files are shown from /home/ann and from folders that you allowed."; err == nil || got != want {
			t.Errorf("a missing folder: got %q, %v, want %q", got, err, want)
		}
	})
	for query, want := range map[string]bool{"~": true, "/etc": true, `C:\Users`: true, "c:/x": true, "a/b": false, "tower": false, "C:": false} {
		if got := IsPath(query); got != want {
			t.Errorf("IsPath(%q): got %v, want %v", query, got, want)
		}
	}
}

func TestFilesBelowTheWorkspaceAreSearchedOnTheMachine(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, m *Model, g *feedtest.Gateway) {
		feedtest.On(g, protocol.FilesFind, func(p protocol.FilesFindParams) (protocol.FilesFindResult, error) {
			if p.Node != "laptop" || p.Limit == 0 {
				return protocol.FilesFindResult{}, protocol.ErrBadRequest
			}
			return protocol.FilesFindResult{Path: "/home/ann", Found: []protocol.FoundFile{{Path: "src/deep/lexer.go"}, {Path: "src/lexer.go"}, {Path: "src/lexers", Folder: true}}}, nil
		})
		if err := m.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		files, err := m.Below(t.Context(), "lexer")
		if err != nil {
			t.Fatal(err)
		}
		list := Join(m.Find("lexer"), files)
		if got, want := titles(list), "lexer.go, lexer.go, lexers"; got != want {
			t.Fatalf("got %q, want %q: each file once", got, want)
		}
		if got, want := list[1].Target, (host.File{Machine: "laptop", Path: "/home/ann/src/deep/lexer.go"}); got != want || list[1].Kind != "File in deep" {
			t.Errorf("got %+v, %q, want %+v in deep", got, list[1].Kind, want)
		}
		if got, want := list[2].Target, (host.File{Machine: "laptop", Path: "/home/ann/src/lexers/"}); got != want || list[2].Kind != "Folder in src" {
			t.Errorf("got %+v, %q, want the folder %+v", got, list[2].Kind, want)
		}
		ctx, end := context.WithCancel(t.Context())
		end()
		before := len(g.Called(protocol.FilesFind.Name))
		if _, err := m.Below(ctx, "lexe"); err == nil || len(g.Called(protocol.FilesFind.Name)) != before {
			t.Errorf("got error %v and %d searches, want none for a query that changed", err, len(g.Called(protocol.FilesFind.Name))-before)
		}
	})
	for query, want := range map[string]bool{"a": false, "ab": true, " a ": false, "~/a": false, "": false} {
		if got := IsSearch(query); got != want {
			t.Errorf("IsSearch(%q): got %v, want %v", query, got, want)
		}
	}
}
