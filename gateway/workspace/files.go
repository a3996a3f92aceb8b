package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// MaxFileSize is how many bytes a file of a workspace may have that is read or written whole.
const MaxFileSize = 10 << 20

// Where a file below skills/ was found (seed 002, gsv__ReadFile).
const (
	FromAgent  = "agent"
	FromGlobal = "global"
)

// Files are the workspaces of all agents: agents/<id> in the data folder, and the skills that all share. Paths are relative to an agent's workspace;
// skills/… shows the agent's own skills over the shared and the built-in ones, and is changed in the agent's own only (seed 002, Workspace Tools). No path and
// no symbolic link leads out. It is safe for use by many goroutines.
type Files struct {
	home   string
	skills func(protocol.AgentID) (string, error) // see ListSkills
	edit   sync.Mutex                             // held from reading to writing by whoever changes a file
}

// NewFiles opens the workspaces in a data folder. An agent's is made when it is first used.
func NewFiles(home string) *Files { return &Files{home: home} }

// Of is the folder of one agent, made when it is new: what its prompt is put together from.
func (w *Files) Of(agent protocol.AgentID) (*Workspace, error) {
	agent, err := protocol.ParseAgentID(agent)
	if err != nil {
		return nil, err
	}
	one, err := Open(w.home, agent)
	if err != nil {
		return nil, err
	}
	one.skills = w.skills
	return one, nil
}

// File is a file as it was read.
type File struct {
	Path     string
	Data     []byte
	Modified time.Time
	// ResolvedPath and ResolvedSource say which copy of a file below skills/ it is, and are empty elsewhere.
	ResolvedPath, ResolvedSource string
}

// Listing is what is in a folder: paths relative to the workspace, those of folders with a slash at the end, both sorted.
type Listing struct {
	Path               string
	Files, Directories []string
}

// ErrTraversal refuses a path that leads out (the original's words).
var ErrTraversal = protocol.ErrBadRequest.With("Path traversal not allowed")

// open opens an agent's folder and cleans a path in it; "" is the folder itself.
func (w *Files) open(agent protocol.AgentID, name string) (*os.Root, string, error) {
	agent, err := protocol.ParseAgentID(agent)
	if err != nil {
		return nil, "", err
	}
	if name, err = clean(name); err != nil {
		return nil, "", err
	}
	if _, err := Open(w.home, agent); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(filepath.Join(w.home, "agents", string(agent)))
	if err != nil {
		return nil, "", fmt.Errorf("open the agent's folder: %w", err)
	}
	return root, name, nil
}

func clean(name string) (string, error) {
	name = strings.Trim(strings.TrimSpace(name), "/")
	if slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return "", ErrTraversal
	}
	if name = path.Clean(name); name == "." {
		return "", nil
	}
	if strings.ContainsRune(name, 0) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("%q is no path in the workspace", name))
	}
	return name, nil
}

func isSkill(name string) bool { return name == "skills" || strings.HasPrefix(name, "skills/") }

// shared opens the skills that all agents share; nil when there are none.
func (w *Files) shared() *os.Root {
	root, err := os.OpenRoot(filepath.Join(w.home, "skills"))
	if err != nil {
		return nil
	}
	return root
}

// Read reads a file. A folder, or the workspace itself, gives a listing instead. What does not exist is protocol.ErrNotFound, in the original's words.
func (w *Files) Read(agent protocol.AgentID, name string) (*File, *Listing, error) {
	root, name, err := w.open(agent, name)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, err := read(root, name)
	if err == nil && isSkill(name) {
		f.ResolvedPath, f.ResolvedSource = path.Join("agents", filepath.Base(root.Name()), name), FromAgent
	}
	if errors.Is(err, fs.ErrNotExist) && isSkill(name) {
		below := strings.TrimPrefix(strings.TrimPrefix(name, "skills"), "/")
		if global := w.shared(); global != nil {
			defer global.Close()
			f, err = read(global, below)
		}
		if errors.Is(err, fs.ErrNotExist) {
			f, err = readBuiltIn(below)
		}
		if err == nil {
			f.Path, f.ResolvedPath, f.ResolvedSource = name, name, FromGlobal
		}
	}
	switch {
	case err == nil:
		return f, nil, nil
	case errors.Is(err, errFolder):
		list, err := w.List(agent, name)
		return nil, &list, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, protocol.ErrNotFound.With("Not found: " + name)
	}
	return nil, nil, fmt.Errorf("read %s: %w", name, err)
}

var errFolder = errors.New("it is a folder")

func read(root *os.Root, name string) (*File, error) {
	if name == "" {
		return nil, errFolder
	}
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errFolder
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > MaxFileSize:
		return nil, tooLarge("File", info.Size())
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFileSize {
		return nil, tooLarge("File", int64(len(data)))
	}
	return &File{Path: name, Data: data, Modified: info.ModTime()}, nil
}

func tooLarge(what string, size int64) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s too large (%d bytes, at most %d)", what, size, MaxFileSize))
}

// Text is a file's content as text, or an error that says how to get it otherwise.
func (f *File) Text() (string, error) {
	if !utf8.Valid(f.Data) {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("%s is not text (%d bytes). Ask for it with encoding base64.", f.Path, len(f.Data)))
	}
	return string(f.Data), nil
}

// List lists a folder. An empty path is the workspace, shown as "/".
func (w *Files) List(agent protocol.AgentID, name string) (Listing, error) {
	root, name, err := w.open(agent, name)
	if err != nil {
		return Listing{}, err
	}
	defer root.Close()
	list := Listing{Path: name, Files: []string{}, Directories: []string{}}
	if name == "" {
		list.Path = "/"
	}
	err = list.add(root, name, name)
	if isSkill(name) {
		below := strings.TrimPrefix(strings.TrimPrefix(name, "skills"), "/")
		if global := w.shared(); global != nil {
			defer global.Close()
			if also := list.add(global, below, name); also == nil {
				err = nil
			}
		}
		if also := list.addBuiltIn(below, name); also == nil {
			err = nil
		}
	} else if name == "" {
		list.Directories = append(list.Directories, "skills/")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Listing{}, protocol.ErrNotFound.With("Not found: " + name)
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list %s: %w", list.Path, err)
	}
	slices.Sort(list.Files)
	slices.Sort(list.Directories)
	list.Files, list.Directories = slices.Compact(list.Files), slices.Compact(list.Directories)
	return list, nil
}

// add lists what is at name under the names that begin with shown.
func (l *Listing) add(root *os.Root, name, shown string) error {
	if name == "" {
		name = "."
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(shown, e.Name())
		info, err := root.Stat(path.Join(name, e.Name())) // follows links that stay inside
		switch {
		case err != nil || strings.HasPrefix(e.Name(), ".fairlead-"):
		case info.IsDir():
			l.Directories = append(l.Directories, at+"/")
		case info.Mode().IsRegular():
			l.Files = append(l.Files, at)
		}
	}
	return nil
}

// Write writes a file, and its folders. Whoever reads it sees the old or the new content, also after a crash.
func (w *Files) Write(agent protocol.AgentID, name string, data []byte) (string, error) {
	if len(data) > MaxFileSize {
		return "", tooLarge("Content", int64(len(data)))
	}
	root, name, err := w.open(agent, name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if name == "" {
		return "", protocol.ErrBadRequest.With("path required")
	}
	if err := write(root, name, data); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return name, nil
}

func write(root *os.Root, name string, data []byte) error {
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return protocol.ErrBadRequest.With(name + " is a folder")
	}
	dir := path.Dir(name)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := path.Join(dir, ".fairlead-"+rand.Text()+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}

// Edit reads a file, has change make its new content, and writes that, without another Edit in between. A folder gives an error.
func (w *Files) Edit(agent protocol.AgentID, name string, change func(old []byte) ([]byte, error)) (old *File, err error) {
	w.edit.Lock()
	defer w.edit.Unlock()
	f, _, err := w.Read(agent, name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, protocol.ErrBadRequest.With(name + " is a folder")
	}
	data, err := change(f.Data)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(agent, name, data)
	return f, err
}

// Delete deletes a file, of skills the agent's own copy only.
func (w *Files) Delete(agent protocol.AgentID, name string) (string, error) {
	root, name, err := w.open(agent, name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case name == "":
		return "", protocol.ErrBadRequest.With("path required")
	case errors.Is(err, fs.ErrNotExist):
		return "", protocol.ErrNotFound.With("File not found: " + name)
	case err == nil && info.IsDir():
		return "", protocol.ErrBadRequest.With(name + " is a folder; delete its files one by one")
	case err == nil:
		err = root.Remove(name)
	}
	if err != nil {
		return "", fmt.Errorf("delete %s: %w", name, err)
	}
	return name, nil
}

// Hash is the SHA-256 of a file in hex, "absent" when there is none.
func (f *File) Hash() string {
	if f == nil {
		return "absent"
	}
	sum := sha256.Sum256(f.Data)
	return hex.EncodeToString(sum[:])
}
