package backend

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/chat"
	"fairlead/app/feed"
	"fairlead/app/preferences"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
	"fairlead/node"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

func TestMain(m *testing.M) {
	sandbox.Main() // commands of the node under test start through this program
	if home := os.Getenv(holdsHome); home != "" {
		hold(home)
		return
	}
	os.Exit(tooltest.Main(m))
}

// folderOutsideTemp creates a folder outside the temporary folder: a sandbox may give commands a
// temporary folder of their own.
func folderOutsideTemp(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{tooltest.PersonHome, here, "/var/tmp"} {
		if rel, err := filepath.Rel(os.TempDir(), place); !filepath.IsAbs(place) || err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			continue
		}
		if dir, err := os.MkdirTemp(place, ".fairlead-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	t.Skip("Nothing outside the temporary folder can be written here")
	return ""
}

// answer sends a message to the main chat and waits for the next tool result.
func answer(t *testing.T, b *Backend, text string) string {
	t.Helper()
	history := b.Chats.Open(protocol.MainSession)
	before := len(history.Value.Get().List)
	if _, err := chat.NewModel(b.Feed, protocol.MainSession).Send(t.Context(), text, nil, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for v := range history.Value.Changes(ctx) {
		for _, m := range v.List[min(before, len(v.List)):] {
			if m.Role == protocol.RoleToolResult {
				return m.Content.Text()
			}
		}
	}
	t.Fatalf("no result of %q", text)
	return ""
}

func TestCommandsFromTheChatAreConfinedAsSet(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	v := await(t, b, "a machine", online)
	held := display.ConfinementOf(v.Machines[0])
	t.Log("this machine: ", held.Line)
	if held.Level == display.LevelBad {
		t.Skip("this machine enforces nothing, so nothing can be seen of it")
	}
	outside := folderOutsideTemp(t)
	file := filepath.Join(outside, "made")
	t.Log(answer(t, b, "!touch "+file))
	if _, err := os.Stat(file); err == nil {
		t.Error("a command wrote outside the workspace")
	}

	l := local{b}
	if err := l.SetConfinement(preferences.Confinement{Folders: []preferences.Folder{{Dir: outside}}}); err != nil {
		t.Fatal(err)
	}
	await(t, b, "the machine again, with the folder", func(v feed.View) bool {
		return online(v) && v.Machines[0].Host != nil && slices.ContainsFunc(v.Machines[0].Host.Folders, func(f protocol.Folder) bool { return f.Path == outside })
	})
	answer(t, b, "!touch "+file)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a command cannot write in an allowed folder: %v", err)
	}
}

func TestConfinementIsStoredAndAnInvalidOneIsRefused(t *testing.T) {
	b := newTestBackend(t)
	b.Start()
	defer b.Stop()
	await(t, b, "a machine", online)
	l, dir := local{b}, filepath.Join(t.TempDir(), "odd name:ro")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	want := preferences.Confinement{Mode: "read-only", Network: "ask", Folders: []preferences.Folder{{Dir: dir}, {Dir: t.TempDir(), ReadOnly: true}}}
	if err := l.SetConfinement(want); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []preferences.Confinement{{Mode: "loose"}, {Folders: []preferences.Folder{{Dir: filepath.Join(dir, "none")}}}} {
		if err := l.SetConfinement(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if got := l.Confinement(); got.Mode != want.Mode || got.Network != want.Network || !slices.Equal(got.Folders, want.Folders) {
		t.Errorf("remembered is %+v", got)
	}
	v := await(t, b, "the new confinement", func(v feed.View) bool {
		return online(v) && v.Machines[0].Host != nil && v.Machines[0].Host.Enforcement != nil && v.Machines[0].Host.Enforcement.Mode == "read-only"
	})
	if line := display.ConfinementOf(v.Machines[0]).Line; strings.Contains(line, "wish") {
		t.Log("nothing is enforced here: ", line)
	}
}

func TestCommandsGetTheNetworkOnlyWhenThePersonAllowsIt(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]sandbox.Network{"": node.AskNetwork, "blocked": sandbox.NetBlocked, "allowed": sandbox.NetAllowed} {
		c, err := parseConfinement(preferences.Confinement{Network: set})
		if err != nil || c.Network != want {
			t.Errorf("set to %q, the network is %q (%v), want %q", set, c.Network, err, want)
		}
	}
}
