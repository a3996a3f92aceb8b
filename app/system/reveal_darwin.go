package system

import (
	"context"
	"os/exec"
)

// Reveal shows a file or folder in Finder, selected in its folder. It blocks.
func Reveal(ctx context.Context, path string) error {
	return exec.CommandContext(ctx, "open", "-R", path).Run()
}
