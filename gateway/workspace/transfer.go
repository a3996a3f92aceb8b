package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Transfer returns the files of an agent's workspace that a transfer may access: it can read and
// write everything in it, and read the shared skills.
func (w *Files) Transfer(agent protocol.AgentID) stream.Files { return transferFiles{w, agent} }

type transferFiles struct {
	files *Files
	agent protocol.AgentID
}

// Source implements stream.Files.
func (m transferFiles) Source(name string) (stream.Item, error) {
	root, name, err := m.files.open(m.agent, name)
	if err != nil {
		return stream.Item{}, err
	}
	item := stream.Item{Root: root, At: name, Name: path.Base(name), Abs: "gsv:" + name, Text: mimeType(name)}
	if name == "" {
		item.At, item.Name = ".", path.Base(root.Name())
	}
	if _, err = root.Stat(item.At); errors.Is(err, fs.ErrNotExist) && isSkillPath(name) {
		if shared := m.files.openShared(); shared != nil {
			root.Close()
			item.Root, item.At = shared, belowSkills(name)
			_, err = shared.Stat(item.At)
		}
	}
	if err == nil {
		return item, nil
	}
	item.Root.Close()
	if below, ok := strings.CutPrefix(name, "workspace/"); ok && errors.Is(err, fs.ErrNotExist) {
		return m.Source(below) // GSV writes gsv:workspace/path, which is ambiguous
	}
	if errors.Is(err, fs.ErrNotExist) {
		return stream.Item{}, protocol.ErrNotFound.With("Workspace file not found: " + name)
	}
	return stream.Item{}, fmt.Errorf("Failed to read file gsv:%s: %w", name, err)
}

// mimeTypes are the MIME types of text files other than text/plain.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".json": "application/json", ".yaml": "text/yaml", ".yml": "text/yaml",
}

func mimeType(name string) string {
	return cmp.Or(mimeTypes[strings.ToLower(path.Ext(name))], "text/plain")
}

// Target implements stream.Files.
func (m transferFiles) Target(name string, into, make bool) (stream.Target, error) {
	root, name, err := m.files.open(m.agent, name)
	if err != nil {
		return stream.Target{}, err
	}
	defer root.Close()
	t := stream.Target{}
	if !into {
		if name == "" {
			return t, protocol.ErrBadRequest.With("path required")
		}
		name, t.Name = path.Dir(name), path.Base(name)
	}
	name = cmp.Or(name, ".")
	if make {
		if err := root.MkdirAll(name, 0o700); err != nil {
			return t, fmt.Errorf("Failed to create directory gsv:%s: %w", name, format.WithoutPath(err))
		}
	}
	if t.Root, err = root.OpenRoot(name); err != nil {
		return t, fmt.Errorf("Failed to open directory gsv:%s: %w", name, format.WithoutPath(err))
	}
	t.Abs = "gsv:" + name
	if name == "." {
		t.Abs = "gsv:"
	}
	return t, nil
}
