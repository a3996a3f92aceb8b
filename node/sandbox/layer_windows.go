package sandbox

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// layer is the job object and the restricted token of each contained command; see group_windows.go.
type layer struct{}

func (*layer) wrap(s Spec, _ Options) ([]string, []string, error) {
	if s.Profile.isContained() {
		return s.Argv, unset(s.Env, sockets...), nil
	}
	return s.Argv, s.Env, nil
}

func (*layer) close() {}

const probeLimit = 30 * time.Second

// probe tests whether a job can end its process and whether a contained process has lost its
// privileges. The limit of processes is taken from the system without a test.
func (*layer) probe(ctx context.Context, _ Options) Report {
	const why = "Windows cannot confine ordinary programs"
	orphans := Check{Why: "this program cannot run as its own helper, so it was not tested"}
	privs := Check{ID: CheckPrivs, Why: orphans.Why}
	if exe, err := os.Executable(); err == nil && mainCalled.Load() {
		orphans = probeJob(ctx, exe)
		privs = probePrivileges(ctx, exe)
	}
	r := unenforcedReport(why, orphans)
	for i, c := range r.Checks {
		if c.ID == CheckPrivs {
			r.Checks[i] = privs
		}
	}
	r.Summary = r.summary()
	return r
}

func helperSpec(exe, word string) ([]string, Spec) {
	return []string{exe, helperWord, word}, Spec{Dir: os.TempDir(), Env: Environ(os.TempDir(), nil)}
}

func probeJob(ctx context.Context, exe string) Check {
	p, err := direct(helperSpec(exe, "linger"))
	if err != nil {
		return Check{Why: "a process could not be put in a job object: " + err.Error()}
	}
	p.Kill()
	if !ends(ctx, p) {
		return Check{Why: "a process outlived its job object"}
	}
	return Check{Enforced: true, By: "job object"}
}

func probePrivileges(ctx context.Context, exe string) Check {
	c := Check{ID: CheckPrivs}
	p, err := direct(helperSpec(exe, "privileges"))
	if err != nil {
		c.Why = "a process could not be started with a restricted token: " + err.Error()
		return c
	}
	if !ends(ctx, p) {
		p.Kill()
		c.Why = "the process that was to report its privileges did not end"
		return c
	}
	if e, err := p.Wait(); err != nil || e.Code != 0 {
		c.Why = "a process with a restricted token still had privileges"
		return c
	}
	c.Enforced, c.By = true, "restricted token"
	return c
}

func ends(ctx context.Context, p *Process) bool {
	timer := time.NewTimer(probeLimit)
	defer timer.Stop()
	select {
	case <-p.Done():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// helperMain runs a helper process, which a probe starts.
func helperMain(args []string) int {
	if len(args) != 1 {
		return 2
	}
	switch args[0] {
	case "linger":
		time.Sleep(time.Minute)
		return 0
	case "privileges":
		if left, err := privileges(windows.GetCurrentProcessToken()); err != nil || len(left) > 0 {
			return 1
		}
		return 0
	}
	return 2
}
