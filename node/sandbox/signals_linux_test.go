package sandbox_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCommandsReactToSignalsThatTheNodeIgnores(t *testing.T) {
	for _, missing := range [][]string{nil, {"helper"}} {
		signal.Ignore(syscall.SIGHUP)
		t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
		k := newKit(t, missing...)
		p, _ := k.start(k.spec("trap 'echo caught >copy' HUP; kill -HUP $$"))
		if e, err := p.Wait(); err != nil || e.Code != 0 {
			t.Fatalf("got exit %+v and error %v; want no error and Code 0", e, err)
		}
		if data, err := os.ReadFile(filepath.Join(k.ws, "copy")); string(data) != "caught\n" {
			t.Errorf("without %v: got %q and error %v, want the trap to run", missing, data, err)
		}
	}
}
