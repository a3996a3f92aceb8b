package notify

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// script shows notifications with osascript, for a program without a bundle: without buttons, not
// removable, and in the name of Script Editor.
type script struct{}

func (script) show(ctx context.Context, m Message) error {
	const text = `on run argv
display notification (item 2 of argv) with title (item 1 of argv)
end run`
	// The texts are arguments, so that they are never interpreted as script.
	if out, err := exec.CommandContext(ctx, "/usr/bin/osascript", "-e", text, oneLine(m.Title, 100), oneLine(m.Body, 300)).CombinedOutput(); err != nil {
		return fmt.Errorf("osascript: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func (script) remove(context.Context, string) {}
func (script) close()                         {}

// locked checks for the key that the window server sets while the screen is locked.
func (script) locked(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "/usr/sbin/ioreg", "-n", "Root", "-d1", "-a").Output()
	return err == nil && bytes.Contains(out, []byte("CGSSessionScreenIsLocked"))
}
