package sandbox_test

import (
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/node/sandbox"
)

// TestWithoutHelperTheGroupIsEnded tests the guarantees that remain where no helper can be started.
func TestWithoutHelperTheGroupIsEnded(t *testing.T) {
	k := newKit(t, "helper")
	s := k.spec("sleep 999 & echo $! >pid0; echo $$ >pid1; wait")
	p, _ := k.start(s)
	list := pids(t, k.ws, 2)
	p.Terminate()
	polltest.Until(t, "the end of the command", closed(p.Exited()))
	if e, err := p.Wait(); err != nil || e.Signal != "SIGTERM" {
		t.Errorf(`got %+v %v; want no error and Signal "SIGTERM"`, e, err)
	}
	polltest.Until(t, "the end of the group", func() bool { return !alive(list[0]) && !alive(list[1]) })
	p.Kill()
	polltest.Until(t, "the end of watching", closed(p.Done()))
	p, _ = k.start(k.spec(`(trap "" TERM; exec sleep 999) & echo $! >pid2; setsid sh -c 'echo $$ >pid3; exec sleep 999' &
		while ! test -s pid3; do sleep 0.01; done; sleep 999`))
	list = pids(t, k.ws, 4)
	if got := p.Processes(); !slices.Contains(got, list[2]) || !slices.Contains(got, list[3]) {
		t.Errorf("got processes %v, want %v among them", got, list[2:])
	}
	p.Terminate()
	polltest.Until(t, "the end of watching", closed(p.Done()))
	polltest.Until(t, "the end of the processes", func() bool { return !alive(list[2]) && !alive(list[3]) })
	if got := p.KilledCount(); got < 2 {
		t.Errorf("got %d ended processes, want at least 2", got)
	}
	if c := k.box.Report().Check(sandbox.CheckOrphans); c.Enforced {
		t.Errorf("got %+v, want it not enforced", c)
	}
	if _, e := k.run(k.spec("echo x >" + filepath.Join(k.outside, "new"))); e.Code != 0 {
		t.Error("something contains commands after all, against the report")
	}
}
