package keychain

import (
	"os"
	"testing"
)

// TestMain acts as a guarded program if it is started as one.
func TestMain(m *testing.M) {
	if play != nil && os.Getenv("GUARD_PLAY") != "" {
		play()
		return
	}
	os.Exit(m.Run())
}

// play runs the guarded program; nil on systems without a test for it.
var play func()

func TestTheTokenIsStillKnownWhenItHasLeftTheEnvironment(t *testing.T) {
	t.Setenv(TokenVariable, "fl_one")
	if got := FromEnv(); got.Reveal() != "fl_one" {
		t.Errorf("before: %q", got.Reveal())
	}
	take(nil)
	t.Cleanup(func() { given = "" })
	if _, there := os.LookupEnv(TokenVariable); there {
		t.Error("it is still in the environment")
	}
	if got := FromEnv(); got.Reveal() != "fl_one" {
		t.Errorf("after: %q", got.Reveal())
	}
	os.Setenv(TokenVariable, "fl_two")
	if got := FromEnv(); got.Reveal() != "fl_two" {
		t.Errorf("set again: %q", got.Reveal())
	}
}

func TestATokenOnTheCommandLineIsReadOnceMore(t *testing.T) {
	was := os.Args
	t.Cleanup(func() { os.Args = was })
	made := func(parts ...string) (list []string) { // as from the system: in writable memory
		for _, p := range parts {
			list = append(list, string([]byte(p)))
		}
		return list
	}
	os.Args = made("fairlead", "--token", "fl_one", "--token=fl_two", "--tokens=x", "--token")
	old := append([]string{}, os.Args...)
	take([]string{"--token"})
	if os.Args[2] != "fl_one" || os.Args[3] != "--token=fl_two" || os.Args[4] != "--tokens=x" || os.Args[5] != "--token" {
		t.Errorf("%q", os.Args)
	}
	if old[2] != "\x00\x00\x00\x00\x00\x00" || old[3] != "--token=\x00\x00\x00\x00\x00\x00" {
		t.Errorf("the system still shows %q", old)
	}
}
