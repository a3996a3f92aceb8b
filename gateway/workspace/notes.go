package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// noteMu guards notes while they are changed.
var noteMu sync.Mutex

// noteName returns the file name of a day's note.
func noteName(day time.Time) string { return filepath.Join("memory", day.Format(time.DateOnly)+".md") }

// Note appends a paragraph to the agent's note of a day, memory/YYYY-MM-DD.md. The location of the
// time decides which day that is.
func (w *Workspace) Note(day time.Time, text string) error {
	noteMu.Lock()
	defer noteMu.Unlock()
	name := filepath.Join(w.dir, noteName(day))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	if info, statErr := f.Stat(); statErr == nil && info.Size() > 0 {
		text = "\n" + text
	}
	_, err = f.WriteString(strings.TrimRight(text, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	return nil
}
