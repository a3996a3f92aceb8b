// Package workspace is the agent's own files, in the data folder's agents/<id>: who it is, who the person is, what it should remember;
// and the system prompt that is put together from them. The files are the person's to edit; they are read afresh for every run.
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

	"fairlead/gateway/protocol"
)

//go:embed files/*.md
var defaults embed.FS

// opening is held by whoever opens an agent's folder, so that it is filled once.
var opening sync.Mutex

// Default is a file as a new agent has it; others are a [protocol.ErrNotFound].
func Default(name string) (*File, error) {
	name = strings.TrimPrefix(name, "/")
	data, err := defaults.ReadFile("files/" + name)
	if err != nil {
		return nil, protocol.ErrNotFound.With(name + " is no file that a new agent has")
	}
	return &File{Path: name, Data: data}, nil
}

// Workspace is one agent's folder. The zero value is one without files.
type Workspace struct {
	dir    string
	skills func(protocol.AgentID) (string, error) // see ListSkills
}

// Open opens an agent's folder and fills it with the default files when it is new. Files that were there are never touched, and one that the
// person deleted does not come back.
func Open(home string, agent protocol.AgentID) (*Workspace, error) {
	opening.Lock()
	defer opening.Unlock()
	dir := filepath.Join(home, "agents", string(agent))
	if _, err := os.Stat(dir); err == nil {
		return &Workspace{dir: dir}, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the agent's folder: %w", err)
	}
	part := dir + ".new"
	if err := os.MkdirAll(part, 0o700); err != nil {
		return nil, fmt.Errorf("make the agent's folder: %w", err)
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

// Dir is the folder.
func (w *Workspace) Dir() string { return w.dir }
