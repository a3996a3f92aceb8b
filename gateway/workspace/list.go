package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Listing is the contents of a folder: paths relative to the workspace, those of folders with a
// trailing slash, both sorted.
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
		list.Path = "/"
	}
	switch {
	case root != nil:
		err = list.add(root, name, name)
	case name != "":
		err = fs.ErrNotExist
	}
	if isSkillPath(name) {
		below := strings.TrimPrefix(strings.TrimPrefix(name, "skills"), "/")
		if global := w.openShared(); global != nil {
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
		return Listing{}, fmt.Errorf("list %s: %w", list.Path, explain(root, path.Join(name, "-"), err))
	}
	slices.Sort(list.Files)
	slices.Sort(list.Directories)
	list.Files, list.Directories = slices.Compact(list.Files), slices.Compact(list.Directories)
	return list, nil
}

// add lists the folder name, with the prefix shown.
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
		// follows links that stay in the workspace
		info, err := root.Stat(path.Join(name, e.Name()))
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
