package workspace

import (
	"errors"
	"fmt"
	"io/fs"
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
	if name == "" {
		list.Directories = append(list.Directories, "skills/")
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
