package sandbox

import (
	"os/exec"
	"time"
)

// maxPause is the interval at which the processes of a command are checked where the system does
// not report their ends.
const maxPause = 20 * time.Millisecond

// Direct starts a command without containment and without a helper: its processes are found as far
// as the system permits.
func Direct(s Spec) (*Process, error) {
	s.Profile = Profile{Mode: Full}.withDefaults()
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	return direct(s.Argv, s)
}

func direct(argv []string, s Spec) (*Process, error) {
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: s.Dir, Env: s.Env}
	// Assigning a nil *os.File would make the interface non-nil.
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		cmd.Stderr = s.Stderr
	}
	g, err := startGroup(cmd, s)
	if err != nil {
		return nil, err
	}
	p := newProcess()
	p.pid, p.terminate, p.kill, p.list = cmd.Process.Pid, g.terminate, g.killTree, g.processes
	go func() {
		e, err := g.wait()
		p.setExit(e, err)
		if !g.waitEmpty(SettleTime) {
			g.terminate()
			if !g.waitEmpty(TermGrace) {
				g.killTree()
			}
		}
		g.close()
		p.finish(g.killedCount())
	}()
	return p, nil
}

// waitEmpty waits at most d until no process is left.
func (g *group) waitEmpty(d time.Duration) bool {
	pause := time.Millisecond
	for end := time.Now().Add(d); g.hasProcesses(); pause = min(2*pause, maxPause) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
