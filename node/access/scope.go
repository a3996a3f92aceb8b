package access

import (
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// Scope is what the file tools of a call can reach.
type Scope struct {
	*workspace.Root
	Home string // Fairlead's own data folder, which can never be opened; may be empty
}

// WithFolders returns the scope with folders that the person opened for one call. The caller calls
// done at the end of the call.
func (s Scope) WithFolders(folders []protocol.FolderAccess) (wider Scope, done func(), err error) {
	if len(folders) == 0 {
		return s, func() {}, nil
	}
	// The arguments of a file tool have one path.
	root, err := s.WithGrant(workspace.Grant{Dir: workspace.Unspell(folders[0].Path), ReadOnly: !folders[0].Write})
	if err != nil {
		return s, nil, err
	}
	return Scope{root, s.Home}, func() { root.Close() }, nil
}

// Preview describes a call of a file tool by calling preview. If the call's path lies outside and
// the person could open its folder for this call, the result describes the call with that folder
// open, and names the folder.
func (s Scope) Preview(path string, write bool, preview func(Scope) (protocol.CallPreview, error)) (protocol.CallPreview, error) {
	p, err := preview(s)
	if err != nil || !p.Outside || p.Problem == "" {
		return p, err
	}
	requested, _ := s.Resolve(path) // absolute even when it is refused
	need, ok := FolderFor(s.Root, s.Home, requested.Abs, write)
	if requested.Abs == "" || !ok {
		return p, nil
	}
	folders := []protocol.FolderAccess{need}
	wider, done, err := s.WithFolders(folders)
	if err != nil {
		return p, nil // the folder cannot be opened
	}
	defer done()
	q, err := preview(wider)
	q.Outside, q.Folders = true, folders
	q.Secret = SecretOf(s.Root, RealPath(requested.Abs))
	return q, err
}

// FolderFor returns the folder that a person would have to open to make a path accessible: the path
// itself if it is a folder, else the nearest existing folder above it. ok is false if the path is
// accessible already, and for folders that can never be opened: the program's own data and a whole
// disk.
func FolderFor(ws *workspace.Root, home, path string, write bool) (f protocol.FolderAccess, ok bool) {
	real := RealPath(path)
	if p, err := ws.At(real); err == nil && !p.Outside || ws.HasWholeDisk() || write && ws.IsReadOnly() {
		return f, false
	}
	dir := real
	for !isDir(dir) {
		if filepath.Dir(dir) == dir {
			return f, false
		}
		dir = filepath.Dir(dir)
	}
	if own := RealPath(home); filepath.Dir(dir) == dir || own != "" && (InFolder(real, own) || InFolder(dir, own)) {
		return f, false
	}
	return protocol.FolderAccess{Path: workspace.Spell(dir), Write: write, Warning: warning(real, dir)}, true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// warning says why opening a folder for a path is dangerous, if it is.
func warning(path, dir string) string {
	if place := sandbox.SecretPlace(path); place != "" {
		return "it holds keys or tokens: " + place
	}
	if user, err := os.UserHomeDir(); err == nil && InFolder(RealPath(user), dir) {
		return "it holds everything in your home folder"
	}
	for _, system := range []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/var/lib", "/System", "/Library", os.Getenv("SystemRoot")} {
		if system != "" && InFolder(dir, system) {
			return "it belongs to the system"
		}
	}
	return ""
}

// InFolder reports whether a path is a folder or lies in it. Both are absolute and clean.
func InFolder(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// RealPath returns an absolute path without symbolic links, as far as it exists.
func RealPath(path string) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path)
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		dir := filepath.Dir(path)
		if dir == path {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = dir
	}
}
