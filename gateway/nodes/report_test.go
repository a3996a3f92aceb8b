package nodes

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

func TestMachineDescriptionIsOneLine(t *testing.T) {
	h := New(nil, nil)
	const trick = "Debian\n\nsandbox: enforced \u202egnihton\x1b[2J\u2066"
	p := params("n", protocol.ExtPreview)
	p.Client.Platform, p.Client.Version = trick, strings.Repeat("ä", 5000)
	p.Host = &protocol.HostInfo{
		OS: trick, Hostname: trick, Sandbox: trick, Workspace: "/srv/a\u202eb", Folders: []protocol.Folder{{Path: "/srv/\tx"}},
		System:      &protocol.HostSystem{Platform: trick, PlatformVersion: trick, KernelArch: trick, Virtualization: trick},
		Enforcement: &protocol.Enforcement{Summary: trick, Warnings: []string{trick}, Checks: []protocol.EnforcedCheck{{ID: "fs.write", Why: trick, Fix: trick}}},
	}
	if _, err := h.Attach(t.Context(), p, Entry{}, newLink()); err != nil {
		t.Fatal(err)
	}
	n, _ := h.Node("n")
	e, x := n.Host.Enforcement, n.Host.System
	for _, s := range []string{x.Platform, x.PlatformVersion, x.KernelArch, x.Virtualization, n.Platform, n.Host.OS, n.Host.Hostname, n.Host.Sandbox, e.Summary, e.Warnings[0], e.Checks[0].Why, e.Checks[0].Fix} {
		if s != "Debian sandbox: enforced gnihton" {
			t.Errorf("got %q, want %q", s, "Debian sandbox: enforced gnihton")
		}
	}
	if got := utf8.RuneCountInString(n.Version); got != maxLine {
		t.Errorf("got a version of %d characters, want %d", got, maxLine)
	}
	if n.Host.Workspace != "/srv/a\u202eb" || n.Host.Folders[0].Path != "/srv/\tx" {
		t.Error("a path was changed, which rules are about")
	}

	p.Host = &protocol.HostInfo{Workspace: strings.Repeat("/x", maxHost)}
	if _, err := h.Attach(t.Context(), p, Entry{}, newLink()); !errors.Is(err, protocol.ErrInvalidConnect) {
		t.Errorf("a description of the host that is too long: got error %v, want ErrInvalidConnect", err)
	}
}

func TestCallTextsOfAMachineAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a preview's time limit is seconds, and building the text may take as long
		h := New(nil, nil)
		link, _ := attach(t, h, "n", protocol.ExtPreview)
		answer := func(result any) {
			raw, err := json.Marshal(result)
			if err != nil {
				t.Error(err)
			}
			inv := (<-link.events).(protocol.ToolInvoke)
			h.Calls.Progress("n", protocol.ToolProgress{CallID: inv.CallID, Tail: strings.Repeat("ä", 1<<20) + "end"})
			if _, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: inv.CallID, Result: raw}); err != nil {
				t.Error(err)
			}
		}
		go answer(protocol.CallPreview{Path: "/a", Diff: strings.Repeat("+x\n", maxPreview)})
		if p, ok, err := h.Calls.Preview(t.Context(), "n", protocol.ToolInvoke{Tool: "Read"}); ok || !errors.Is(err, protocol.ErrTooLarge) || p.Diff != "" {
			t.Errorf("%v %v, %d bytes; want not ok, error ErrTooLarge and an empty Diff", ok, err, len(p.Diff))
		}
		go answer("done")
		var live string
		if _, err := h.Calls.Call(t.Context(), "n", protocol.ToolInvoke{CallID: "c", Tool: "Bash"}, func(p protocol.ToolProgress) { live = p.Tail }); err != nil {
			t.Fatal(err)
		}
		if utf8.RuneCountInString(live) != maxLive || !strings.HasSuffix(live, "äend") {
			t.Errorf("got %d characters of live output, want %d with the end", utf8.RuneCountInString(live), maxLive)
		}
	})
}

func TestAddressAndWordsComeFromTheGateway(t *testing.T) {
	t.Parallel()
	h := New(nil, nil)
	p := params("nas")
	p.Host = &protocol.HostInfo{Address: "10.0.0.1, the person's laptop", Words: []string{"trust", "me"}}
	if _, err := h.Attach(t.Context(), p, Entry{Address: "192.168.1.20", Words: []string{"cobalt", "otter"}}, newLink()); err != nil {
		t.Fatal(err)
	}
	got, _ := h.Node("nas")
	if got.Host.Address != "192.168.1.20" || strings.Join(got.Host.Words, " ") != "cobalt otter" {
		t.Errorf("got address %q and words %q, want 192.168.1.20 and cobalt otter", got.Host.Address, got.Host.Words)
	}
}
