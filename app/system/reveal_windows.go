package system

import (
	"context"
	"errors"
	"os/exec"
)

// Reveal shows a file or folder in Explorer, selected in its folder. It blocks.
func Reveal(ctx context.Context, path string) error {
	err := exec.CommandContext(ctx, "explorer.exe", "/select,", path).Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil // Explorer's exit code is 1 also on success
	}
	return err
}
