package sandbox

import (
	"os/exec"
	"time"
)

// maxPause is how late the end of what a command left running may be noticed where nobody tells.
const maxPause = 250 * time.Millisecond

// direct starts a command without a helper: it is held together by no more than what the system's own means in group give.
func direct(argv []string, s Spec) (*Process, error) {
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: s.Dir, Env: s.Env}
	// A nil *os.File in an interface would not be nil.
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
	p := newProcess(cmd.Process.Pid, g.signal)
	go func() {
		e, err := g.wait()
		if !s.Supervise {
			g.signal(true)
		}
		p.ended(e, err)
		for pause := time.Millisecond; g.alive(); pause = min(2*pause, maxPause) {
			time.Sleep(pause)
		}
		g.close()
		close(p.done)
	}()
	return p, nil
}
