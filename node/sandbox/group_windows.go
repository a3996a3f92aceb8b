package sandbox

import (
	"errors"
	"os/exec"
)

type group struct{ cmd *exec.Cmd }

func startGroup(cmd *exec.Cmd, _ bool) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd}, nil
}

func (g *group) wait() (Exit, error) {
	err := g.cmd.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		return Exit{}, err
	}
	return Exit{Code: g.cmd.ProcessState.ExitCode()}, nil
}

func (g *group) signal(bool) { g.cmd.Process.Kill() }

func (g *group) close() {}
