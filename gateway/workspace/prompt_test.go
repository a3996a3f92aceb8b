package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// folder is an agent's folder with the given files.
func folder(t *testing.T, files ...string) *Workspace {
	t.Helper()
	w, err := Open(t.TempDir(), "main")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(w.dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

var noon = time.Date(2026, 3, 1, 12, 30, 0, 0, time.FixedZone("CET", 3600))

func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	at := 0
	for _, s := range want {
		i := strings.Index(text[at:], s)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", s, text)
		}
		at += i + len(s)
	}
}

func checkOmitted(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, s := range words {
		if strings.Contains(text, s) {
			t.Errorf("%q is in\n%s", s, text)
		}
	}
}

var everything = []string{
	"SOUL.md", "S!", "IDENTITY.md", "I!", "USER.md", "U!", "AGENTS.md", "A!", "MEMORY.md", "M!", "TOOLS.md", "T!", "HEARTBEAT.md", "H!",
	"memory/2026-02-28.md", "N28!", "memory/2026-03-01.md", "N1!", "memory/2026-02-27.md", "N27!",
}

func TestThePromptHasItsSectionsInOrder(t *testing.T) {
	w := folder(t, everything...)
	text := w.Prompt(Facts{
		Session: "agent:main:main", Agent: "main", Private: true, Now: noon, Skills: "K!", Heartbeat: "B!", Default: "laptop",
		Nodes: []protocol.NodeInfo{{ID: "laptop", Online: true}, {ID: "server"}},
	})
	inOrder(t, text, "You are Fairlead", "# Your files", "S!", "I!", "U!", "A!", "M!", "(memory/2026-02-28.md)", "N28!", "N1!", "T!", "HEARTBEAT_OK", "B!", "H!", "# Skills", "K!",
		"Sunday, 1 March 2026", "CET, UTC+01:00", "agent:main:main (the person's own)", "Default machine: laptop", "laptop: online", "server: offline")
	checkOmitted(t, text, "N27!", "# This chat", "12:30")
	if again := w.Prompt(Facts{
		Session: "agent:main:main", Agent: "main", Private: true, Now: noon.Add(time.Hour), Skills: "K!", Heartbeat: "B!", Default: "laptop",
		Nodes: []protocol.NodeInfo{{ID: "laptop", Online: true}, {ID: "server"}},
	}); again != text {
		t.Error("the prompt changes within a day: it cannot be cached")
	}
	text = w.Prompt(Facts{Base: "Be a cat.", Private: true, Now: noon})
	inOrder(t, text, "Be a cat.", "S!", "No machine is connected.")
	checkOmitted(t, text, "You are Fairlead")
}

func TestPrivateFilesStayOutOfSharedChats(t *testing.T) {
	w := folder(t, everything...)
	text := w.Prompt(Facts{Session: "agent:main:irc:group:1", Now: noon})
	inOrder(t, text, "# This chat", "S!", "U!", "A!", "T!", "(shared)")
	checkOmitted(t, text, "M!", "N28!", "N1!", "H!")
}

func TestSetupPromptOmitsMostSections(t *testing.T) {
	w := folder(t, append(everything, "BOOTSTRAP.md", "Ask for a name.")...)
	text := w.Prompt(Facts{Private: true, Now: noon, Skills: "K!"})
	inOrder(t, text, "# First of all (BOOTSTRAP.md)", "Ask for a name.", "S!", "I!", "U!", "HEARTBEAT_OK", "# Right now")
	checkOmitted(t, text, "A!", "M!", "N1!", "T!", "K!")
}

func TestUnchangedDefaultFilesAreNotInThePrompt(t *testing.T) {
	w := folder(t)
	for _, name := range []string{"SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md", "MEMORY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"} {
		if data, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || len(data) == 0 {
			t.Errorf("%s: got %v; want no error and some", name, err)
		}
	}
	checkOmitted(t, w.Prompt(Facts{Private: true, Now: noon}), "<!--", "First of all", "USER.md)", "MEMORY.md)")
}

func TestLongFilesAreCutAndMarked(t *testing.T) {
	w := folder(t, "USER.md", strings.Repeat("ü", maxFile), "SOUL.md", "S!")
	text := w.Prompt(Facts{Private: true, Now: noon})
	inOrder(t, text, "S!", "üüü\n[USER.md is longer than 20000 bytes")
	if len(text) > maxFile+10_000 || !strings.Contains(text, "# How to work") {
		t.Errorf(`got %d bytes; want length at most %v and "# How to work" in it`, len(text), maxFile+10_000)
	}
	w = folder(t, "USER.md", "<!--"+strings.Repeat("c", 3*maxFile)+"-->Ann"+"<!--"+strings.Repeat("c", 3*maxFile)+"-->Bob")
	text = w.Prompt(Facts{Private: true, Now: noon})
	inOrder(t, text, "Ann\n[USER.md is longer than 20000 bytes") // though what was read of it is short
	checkOmitted(t, text, "ccc", "Bob")
	big := strings.Repeat("x", maxFile-10)
	w = folder(t, "SOUL.md", big, "IDENTITY.md", big, "USER.md", big, "AGENTS.md", big, "MEMORY.md", big, "TOOLS.md", "T!", "HEARTBEAT.md", big)
	text = w.Prompt(Facts{Private: true, Now: noon})
	inOrder(t, text, "T!", "# Left out", "Not read: HEARTBEAT.md.")
	if len(text) > maxFiles+10_000 {
		t.Errorf("got %d bytes, want at most %d", len(text), maxFiles+10_000)
	}
}

func TestNoLinkLeadsOutOfTheFolder(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := folder(t)
	os.Remove(filepath.Join(w.dir, "USER.md"))
	if err := os.Symlink(secret, filepath.Join(w.dir, "USER.md")); err != nil {
		t.Skip("this system makes no links without rights: ", err)
	}
	checkOmitted(t, w.Prompt(Facts{Private: true, Now: noon}), "hunter2")
}

func TestNotesGoToTheirDay(t *testing.T) {
	w := folder(t)
	for _, text := range []string{"## 12:30\n\n- one\n", "- two\n\n"} {
		if err := w.Note(noon, text); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.dir, "memory", "2026-03-01.md"))
	if err != nil || string(data) != "## 12:30\n\n- one\n\n- two\n" {
		t.Errorf(`got %q %v; want no error and "## 12:30\n\n- one\n\n- two\n"`, data, err)
	}
}

func TestEveryAgentHasAFolderOfItsOwnMadeOnce(t *testing.T) {
	home := t.TempDir()
	files := NewFiles(home, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := files.Of("Work"); err != nil {
				t.Error(err)
			}
			if _, err := files.List("work", ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := os.ReadDir(filepath.Join(home, "agents"))
	if err != nil || len(list) != 1 || list[0].Name() != "work" {
		t.Fatalf(`got %v, %v; want no error, length 1 and list[0].Name "work"`, list, err)
	}
	for _, agent := range []protocol.AgentID{"work", "main"} {
		if _, err := files.Write(agent, "SOUL.md", []byte("I am "+string(agent))); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Delete(agent, "BOOTSTRAP.md"); err != nil && !errors.Is(err, protocol.ErrNotFound) {
			t.Fatalf("got %v; want no error or error ErrNotFound", err)
		}
	}
	for _, agent := range []protocol.AgentID{"Work", "main"} {
		w, err := files.Of(agent)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ToLower(string(agent))
		if err := w.Note(noon, "- a fact of "+name); err != nil {
			t.Fatal(err)
		}
		text := w.Prompt(Facts{Agent: agent, Private: true, Now: noon, Skills: "skills of " + name})
		for _, other := range []string{"work", "main"} {
			for _, part := range []string{"I am " + other, "- a fact of " + other, "skills of " + other} {
				if strings.Contains(text, part) != (other == name) {
					t.Errorf("%q in the prompt of %s: %v", part, name, other != name)
				}
			}
		}
	}
	if _, err := files.Of("../main"); err == nil {
		t.Error("an agent outside the folder of agents")
	}
}
