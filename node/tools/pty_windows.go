package tools

import (
	"errors"
	"os"
)

var errNoTerminal = errors.New("pty is not supported on Windows; run it without, or in the background and answer with Process")

func openTerminal(bool) (streams, error) { return streams{}, errNoTerminal }

func resizeTerminal(*os.File, int, int) error { return errNoTerminal }
