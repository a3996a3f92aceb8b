package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/protocol"
)

// Write writes a file and its folders atomically: even after a crash, it is old or new.
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
		return "", fmt.Errorf("write %s: %w", name, explain(root, name, err))
	}
	return name, nil
}

func write(root *os.Root, name string, data []byte) error {
	switch info, err := root.Stat(name); {
	case name == "skills", err == nil && info.IsDir():
		// every agent has the folder skills, even without files in it
		return protocol.ErrBadRequest.With(name + " is a folder")
	case err == nil && !info.Mode().IsRegular():
		return errNoFile
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
	if err = atomicfile.Finish(f, err); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}

// Edit replaces a file's contents by what change returns, without another Edit in between.
func (w *Files) Edit(agent protocol.AgentID, name string, change func(old []byte) ([]byte, error)) (old *File, err error) {
	w.editMu.Lock()
	defer w.editMu.Unlock()
	f, err := w.ReadFile(agent, name)
	if err != nil {
		return nil, err
	}
	data, err := change(f.Data)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(agent, name, data)
	return f, err
}

// Delete deletes a file; of a skill only the agent's own copy.
func (w *Files) Delete(agent protocol.AgentID, name string) (string, error) {
	root, name, err := w.openExisting(agent, name)
	if err != nil {
		return "", err
	}
	if root == nil && name != "" {
		return "", protocol.ErrNotFound.With("File not found: " + name)
	}
	defer closeRoot(root)
	var info fs.FileInfo
	if root != nil {
		info, err = root.Lstat(name)
	}
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
		return "", fmt.Errorf("delete %s: %w", name, explain(root, name, err))
	}
	return name, nil
}
