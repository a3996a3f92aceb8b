//go:build unix

package baseline

import (
	"os"
	"testing"

	"fairlead/gateway/protocol"
)

func TestEnvironmentsAreKnownByTheirFile(t *testing.T) {
	k := newKit(t)
	k.write("env/pyvenv.cfg", "home = /usr/bin\n")
	k.write("env/bin/python3", "old")
	k.write("env/lib/python3.13/site-packages/a.pth", "old")
	run := k.Begin(Command{ID: "1"})
	k.write("env/pyvenv.cfg", "")
	k.write("env/bin/python3", "evil")
	k.write("env/bin/ls", "evil")
	k.expect(run.End(), map[string]string{"env/bin/python3": protocol.ProtectedChanged, "env/bin/ls": protocol.ProtectedCreated})
	k.check(map[string]string{"env/bin/python3": "old", "env/bin/ls": ""})
	run = k.Begin(Command{ID: "2"})
	if err := os.RemoveAll(k.at("env")); err != nil {
		t.Fatal(err)
	}
	k.expect(run.End(), map[string]string{})
}

func TestFilesThatDirenvReadsAreReverted(t *testing.T) {
	k := newKit(t)
	k.write(".direnv/flake-profile-a.rc", "old")
	k.write(".direnv/python-3.13/bin/python", "old")
	k.write(".direnv/cache/x", "old")
	run := k.Begin(Command{ID: "1"})
	k.write(".direnv/flake-profile-a.rc", "evil")
	k.write(".direnv/python-3.13/bin/ls", "evil")
	k.write(".direnv/cache/x", "new")
	k.expect(run.End(), map[string]string{".direnv/flake-profile-a.rc": protocol.ProtectedChanged, ".direnv/python-3.13/bin/ls": protocol.ProtectedCreated})
}
