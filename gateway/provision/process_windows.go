package provision

import (
	"errors"
	"os"
	"os/exec"
)

// runInGroup does nothing: Windows gives programs no groups, nor files to inherit.
func runInGroup(*exec.Cmd, *os.File) {}

// started records nothing.
func started(*exec.Cmd, *os.File) {}

var errBusy = errors.New("the provider still works on the machine")

// holdTask marks nothing; see runInGroup.
func holdTask(string, string) (*os.File, error) { return nil, nil }
