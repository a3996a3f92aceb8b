package node

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

func TestParseConfinementTakesWordsAndRefusesOthers(t *testing.T) {
	for _, mode := range []string{"", "read-only", "workspace-write", "full"} {
		for _, network := range []string{"", "blocked", "allowed"} {
			if c, err := ParseConfinement(mode, network, nil); err != nil || string(c.Mode) != mode || string(c.Network) != network {
				t.Errorf("%q %q: got %+v, error %v, want these settings", mode, network, c, err)
			}
		}
	}
	for _, c := range [][3]string{{"none", "", "x"}, {"", "open", "x"}, {"", "", ":ro"}} {
		if _, err := ParseConfinement(c[0], c[1], []string{c[2]}); err == nil || err.Error() == "" {
			t.Errorf("%v: got no error, want a reason", c)
		}
	}
	c, err := ParseConfinement("", "", []string{"sub:ro", "/abs"})
	if err != nil || len(c.Grants) != 2 || !filepath.IsAbs(c.Grants[0].Dir) || !c.Grants[0].ReadOnly || c.Grants[1].ReadOnly {
		t.Errorf("got %+v, error %v, want a grant for reading and one for writing", c, err)
	}
	p := c.profile("/ws")
	if p.Mode != sandbox.WorkspaceWrite || p.Network != sandbox.NetBlocked || p.Workspace != "/ws" || len(p.Write) != 1 || len(p.Read) != 1 || p.Write[0] != c.Grants[1].Dir {
		t.Errorf("got %+v, want the workspace and the two grants", p)
	}
}

func TestCommandsOfANodeAreConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is tried here is what Linux enforces")
	}
	t.Setenv("SHELL", "/bin/sh")
	home, granted, outside := t.TempDir(), t.TempDir(), t.TempDir()
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, []byte("classified"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := start(t, func(o *Options) {
		o.Home = home
		o.Confine.Grants = []workspace.Grant{{Dir: granted}}
	})
	l, params := g.accept()
	if params.Host.Enforcement.Summary != string(sandbox.Contained) {
		t.Skipf("this machine does not contain: %+v", params.Host.Enforcement)
	}
	command := "ls -la; echo 1 > in; echo 2 > " + granted + "/f; echo 3 > " + outside + "/f; cat " + secret + "; true"
	raw, err := protocol.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	l.invoke("1", "Bash", string(raw))
	out := decode[struct{ Status, Output, Enforced string }](t, l.result().Result)
	if out.Status != "completed" || out.Enforced != params.Host.Sandbox || out.Enforced != "files workspace-write, network blocked" || strings.Contains(out.Output, "classified") {
		t.Errorf("got %+v, want a confined command without the secret; the machine says %q", out, params.Host.Sandbox)
	}
	for path, want := range map[string]bool{filepath.Join(g.node.ws.Dir(), "in"): true, granted + "/f": true, outside + "/f": false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: got %v; want success %v", path, err, want)
		}
	}
}

func TestFullAccessNeedsTheSetting(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	outside := t.TempDir()
	g := start(t, func(o *Options) { o.Confine.Mode = sandbox.Full })
	l, params := g.accept()
	l.invoke("1", "Bash", `{"command":"echo 1 > '`+filepath.ToSlash(outside)+`/f'"}`)
	if out := decode[struct{ Status string }](t, l.result().Result); out.Status != "completed" || !strings.HasPrefix(params.Host.Sandbox, "full access, as set for this machine, including keys") {
		t.Errorf("got status %s, sandbox %q, want completed with full access", out.Status, params.Host.Sandbox)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err != nil {
		t.Error(err)
	}
}

// A machine that can block the network does not do so while it is allowed, and denies writing to
// every file in a read-only mode.
func TestEnforcementFollowsTheSettings(t *testing.T) {
	r := sandbox.Report{Summary: sandbox.Contained, Warnings: []string{"contained commands are slow"}}
	for _, id := range []string{sandbox.CheckWriteOutside, sandbox.CheckReadSecrets, sandbox.CheckTCP, sandbox.CheckUring, sandbox.CheckUnix, sandbox.CheckOrphans} {
		r.Checks = append(r.Checks, sandbox.Check{ID: id, Enforced: true, By: "layer of " + id})
	}
	r.Checks = append(r.Checks, sandbox.Check{ID: sandbox.CheckProtected, Why: "it can be written"})
	settingOf := func(c Confinement) string {
		_, e := c.enforcement(r, "/ws")
		var ids []string
		for _, check := range e.Checks {
			if check.Enforced != (check.Why == "") || check.Enforced != (check.By != "") {
				t.Errorf("%+v: got check %+v, want either why it is not enforced or by what it is", c, check)
			}
			if check.Enforced {
				ids = append(ids, check.ID)
			}
		}
		if full := c.Mode == sandbox.Full; full == strings.Contains(strings.Join(e.Warnings, ""), "contained") {
			t.Errorf("%+v: got warnings %q, want those of the mode alone", c, e.Warnings)
		}
		return strings.Join(ids, " ")
	}
	const files, net, rest = "fs.write.outside fs.read.secrets", " net.tcp syscall.io_uring unix.sockets", " orphans"
	for _, c := range []struct {
		set  Confinement
		want string
	}{
		{Confinement{}, files + net + rest},
		{Confinement{Network: AskNetwork}, files + net + rest},
		{Confinement{Network: sandbox.NetAllowed}, files + rest},
		{Confinement{Mode: sandbox.ReadOnly}, files + net + rest + " fs.write.protected"},
		{Confinement{Mode: sandbox.ReadOnly, Network: sandbox.NetAllowed}, files + rest + " fs.write.protected"},
		{Confinement{Mode: sandbox.Full}, "orphans"},
		{Confinement{Mode: sandbox.Full, Network: sandbox.NetAllowed}, "orphans"},
	} {
		if got := settingOf(c.set); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.set, got, c.want)
		}
	}
	if len(r.Checks) != 7 || !r.Check(sandbox.CheckTCP).Enforced || r.Check(sandbox.CheckProtected).Enforced {
		t.Errorf("got %+v, want the report unchanged", r)
	}
}
