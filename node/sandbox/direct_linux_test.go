package sandbox_test

import (
	"path/filepath"
	"testing"

	"fairlead/node/sandbox"
)

// TestWithoutHelperTheGroupIsEnded is what remains where no helper can be started.
func TestWithoutHelperTheGroupIsEnded(t *testing.T) {
	k := newKit(t, "helper")
	s := k.spec("sleep 999 & echo $! >pid0; echo $$ >pid1; wait")
	p, _ := k.start(s)
	list := pids(t, k.ws, 2)
	p.Terminate()
	within(t, "the end of the command", closed(p.Exited()))
	if e, err := p.Wait(); err != nil || e.Signal != "SIGTERM" {
		t.Errorf("%+v %v", e, err)
	}
	within(t, "the end of the group", func() bool { return !alive(list[0]) && !alive(list[1]) })
	p.Kill()
	within(t, "the end of watching", closed(p.Done()))
	s = k.spec("sleep 999 & echo $! >pid2")
	s.Supervise = true
	if p, _ = k.start(s); p == nil {
		t.Fatal()
	}
	p.Wait()
	left := pids(t, k.ws, 3)
	if closed(p.Done())() || !alive(left[2]) {
		t.Error("what was to live on is gone")
	}
	p.Kill()
	within(t, "the end of what lived on", closed(p.Done()))
	if c := k.box.Report().Check(sandbox.CheckOrphans); c.Enforced {
		t.Errorf("%+v", c)
	}
	if _, e := k.run(k.spec("echo x >" + filepath.Join(k.outside, "new"))); e.Code != 0 {
		t.Error("something contains commands after all, against the report")
	}
}
