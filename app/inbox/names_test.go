package inbox

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
)

func TestDialogShowsMachineDisplayName(t *testing.T) {
	q := ask("q", "make")
	q.Sandbox = "files workspace-write, network blocked"
	b := newBench(t, q)
	b.env.Machines.SetName("server", "The big one")
	b.show(0)
	markup := test.RenderObjectToMarkup(b.Box)
	for _, want := range []string{"The big one", "server, Ubuntu", "files: changes in the workspace"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not said", want)
		}
	}
}

func TestDialogDistinguishesMCPServersFromMachines(t *testing.T) {
	b := newBench(t, ask("q", "make"))
	b.show(0)
	if markup := test.RenderObjectToMarkup(b.Box); strings.Contains(markup, "MCP server") || !strings.Contains(markup, "machine#") {
		t.Error("a machine looks like a server")
	}
	b = newBench(t, ask("q", "make"))
	b.env.Machines.SetServers([]string{"server"})
	b.show(0)
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "MCP server") || strings.Contains(markup, "machine#") {
		t.Error("a server looks like a machine")
	}
}
