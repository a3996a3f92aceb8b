// Package workspace manages the agent's own files, in the data folder's agents/<id>: its identity,
// facts about the person, and its memory. It also assembles the system prompt from them. The person
// may edit the files; they are read again for every run.
package workspace

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

//go:embed files/*.md
var defaults embed.FS

// openMu guards the opening of an agent's folder, so that it is filled once.
var openMu sync.Mutex

// Default returns a file as a new agent has it; other names return [protocol.ErrNotFound].
func Default(name string) (*File, error) {
	name = strings.TrimPrefix(name, "/")
	data, err := defaults.ReadFile("files/" + name)
	if err != nil {
		return nil, protocol.ErrNotFound.With(name + " is not one of a new agent's files")
	}
	return &File{Path: name, Data: data}, nil
}

// Workspace is one agent's folder. The zero value has no files.
type Workspace struct{ dir string }

// Open opens an agent's folder and fills it with the default files if it is new. Existing files are
// never changed, and a file that the person deleted is not created again.
func Open(home string, agent protocol.AgentID) (*Workspace, error) {
	openMu.Lock()
	defer openMu.Unlock()
	dir := filepath.Join(home, "agents", string(agent))
	if _, err := os.Stat(dir); err == nil {
		return &Workspace{dir: dir}, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the agent's folder: %w", err)
	}
	part := dir + ".new"
	if err := os.MkdirAll(part, 0o700); err != nil {
		return nil, fmt.Errorf("create the agent's folder: %w", err)
	}
	list, err := defaults.ReadDir("files")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		data, err := defaults.ReadFile("files/" + f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(part, f.Name()), data, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("fill the agent's folder: %w", err)
		}
	}
	if err := os.Rename(part, dir); err != nil {
		return nil, fmt.Errorf("fill the agent's folder: %w", err)
	}
	return &Workspace{dir: dir}, nil
}

// noteMu guards notes while they are changed.
var noteMu sync.Mutex

// noteName returns the file name of a day's note.
func noteName(day time.Time) string { return filepath.Join("memory", day.Format(time.DateOnly)+".md") }

// Note appends a paragraph to the agent's note of a day, in the time's location.
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
