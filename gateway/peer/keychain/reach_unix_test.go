//go:build unix && !darwin

package keychain

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNoBusIsStartedForTheKeychain: over SSH there is no session bus, and a bus that a command
// starts keeps running after it.
func TestNoBusIsStartedForTheKeychain(t *testing.T) {
	if realKeyring() {
		t.Skip("there is a bus")
	}
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\ntouch '"+started+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "FAIRLEAD_SECRETS"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	home := t.TempDir()
	s := Open(home)
	if err := s.Set("a", "b"); err != nil {
		t.Fatal(err)
	}
	if where := s.Where(); where != filepath.Join(home, "secrets.json") && where != Keychain { // this computer may have a session bus
		t.Errorf("it is in %s, want the keychain or the file", where)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a bus was started")
	}
}
