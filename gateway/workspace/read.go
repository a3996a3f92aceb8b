package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// File is the contents of a file.
type File struct {
	Path     string
	Data     []byte
	Modified time.Time
	// the copy of a file below skills/; empty for other files
	ResolvedPath, ResolvedSource string
}

// Read reads a file. For a folder, or the workspace itself, it returns a listing instead. A missing
// file returns protocol.ErrNotFound, in GSV's words, and names the one that looks the same.
func (w *Files) Read(agent protocol.AgentID, name string) (*File, *Listing, error) {
	root, name, err := w.openExisting(agent, name)
	if err != nil {
		return nil, nil, err
	}
	defer closeRoot(root)
	layers, release := w.layers(root, name)
	defer release()
	var f *File
	err = fs.ErrNotExist
	if name == "" {
		err = errFolder
	}
	for _, l := range layers {
		f, err = read(l)
		if err == nil && isSkillPath(name) {
			f.ResolvedPath, f.ResolvedSource = name, FromGlobal
			if l.source == protocol.SkillAgent {
				f.ResolvedPath, f.ResolvedSource = l.where, FromAgent
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case err == nil:
		f.Path = name
		return f, nil, nil
	case errors.Is(err, errFolder):
		list, err := w.List(agent, name)
		return nil, &list, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, protocol.ErrNotFound.With("Not found: " + name + lookAlikeHint(layers, name))
	}
	return nil, nil, fmt.Errorf("read %s: %w", name, explain(root, name, err))
}

var (
	errFolder = errors.New("it is a folder")
	errNoFile = protocol.ErrBadRequest.With("it is a pipe or a device, not a file")
)

func read(l layer) (*File, error) {
	info, err := fs.Stat(l.fsys, l.at)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errFolder
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > MaxFileSize:
		return nil, tooLarge("File", info.Size())
	}
	data, err := readHead(l.fsys, l.at, MaxFileSize+1)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFileSize {
		return nil, tooLarge("File", int64(len(data)))
	}
	f := &File{Data: data, Modified: info.ModTime()}
	if l.source == protocol.SkillBuiltIn {
		f.Modified = builtAt()
	}
	return f, nil
}

func tooLarge(what string, size int64) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s too large (%d bytes, at most %d)", what, size, MaxFileSize))
}

// Text returns a file's contents as text, or an error that explains the alternative.
func (f *File) Text() (string, error) {
	if !utf8.Valid(f.Data) {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("%s is not text (%d bytes). Ask for it with encoding base64.", f.Path, len(f.Data)))
	}
	return string(f.Data), nil
}

// Hash returns the SHA-256 of a file in hex, "absent" if there is no file.
func (f *File) Hash() string {
	if f == nil {
		return "absent"
	}
	sum := sha256.Sum256(f.Data)
	return hex.EncodeToString(sum[:])
}

// ReadFile is Read for a file; a folder is an error.
func (w *Files) ReadFile(agent protocol.AgentID, name string) (*File, error) {
	f, _, err := w.Read(agent, name)
	if err == nil && f == nil {
		err = protocol.ErrBadRequest.With(name + " is a folder")
	}
	return f, err
}

// Heartbeat returns the text of an agent's HEARTBEAT.md, or fs.ErrNotExist if none exists.
func (w *Files) Heartbeat(agent protocol.AgentID) (string, error) {
	f, _, err := w.Read(agent, "HEARTBEAT.md")
	switch {
	case errors.Is(err, protocol.ErrNotFound), err == nil && f == nil:
		return "", fs.ErrNotExist
	case err != nil:
		return "", err
	}
	return string(f.Data), nil
}

// Listing is the contents of a folder, as sorted paths in the workspace; folders end with a slash.
type Listing struct {
	Path               string
	Files, Directories []string
}

// List lists a folder. An empty path means the workspace, shown as "/".
func (w *Files) List(agent protocol.AgentID, name string) (Listing, error) {
	root, name, err := w.openExisting(agent, name)
	if err != nil {
		return Listing{}, err
	}
	defer closeRoot(root)
	list := Listing{Path: name, Files: []string{}, Directories: []string{}}
	if name == "" {
		list.Path, list.Directories = "/", []string{"skills/"}
	} else {
		err = fs.ErrNotExist
	}
	layers, release := w.layers(root, name)
	defer release()
	for _, l := range layers {
		switch addErr := list.add(l, name); {
		case addErr == nil:
			err = nil
		case l.source == protocol.SkillAgent:
			err = addErr
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Listing{}, protocol.ErrNotFound.With("Not found: " + name)
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list %s: %w", list.Path, explain(root, path.Join(name, "-"), err))
	}
	slices.Sort(list.Files)
	slices.Sort(list.Directories)
	list.Files, list.Directories = slices.Compact(list.Files), slices.Compact(list.Directories)
	return list, nil
}

// add lists the folder of a layer, with the prefix shown.
func (l *Listing) add(in layer, shown string) error {
	entries, err := fs.ReadDir(in.fsys, in.at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(shown, e.Name())
		// follows links that stay in the workspace
		info, err := fs.Stat(in.fsys, path.Join(in.at, e.Name()))
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
