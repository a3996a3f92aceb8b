package sandbox

import (
	"context"
	"os"
	"time"
)

// layer is the job object that every command is in; see group_windows.go.
type layer struct{}

func (*layer) wrap(s Spec, _ Options) ([]string, []string, error) {
	if s.Profile.contained() {
		return s.Argv, unset(s.Env, sockets...), nil
	}
	return s.Argv, s.Env, nil
}

func (*layer) close() {}

// probe tries whether a process can be ended by its job.
func (*layer) probe(ctx context.Context, s *system, _ Options) Report {
	const why = "Windows has no containment for a program that was not made for it that could be used here"
	orphans := Check{Why: "this program cannot be its own helper, so it was not tried"}
	if exe, err := os.Executable(); err == nil && mainCalled.Load() {
		orphans = Check{Why: "a process outlived its job object"}
		p, err := direct([]string{exe, helperWord, "linger"}, Spec{Dir: os.TempDir(), Env: Environ(os.TempDir(), nil)})
		if err != nil {
			orphans.Why = "a process could not be put in a job object: " + err.Error()
		} else {
			p.Kill()
			timer := time.NewTimer(2 * time.Second)
			defer timer.Stop()
			select {
			case <-p.Done():
				orphans = Check{Enforced: true, By: "job object", Probe: "a process was ended with its job"}
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
	return unenforced(why, "", orphans)
}
