package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// folderFor returns the folder that a person would have to open to make a path accessible: the path
// itself if it is a folder, else the nearest existing folder above it. ok is false if the path is
// accessible already, and for folders that can never be opened: the program's own data and a whole
// disk.
func folderFor(ws *workspace.Root, home, path string, write bool) (f protocol.FolderAccess, ok bool) {
	real := realPath(path)
	if p, err := ws.At(real); err == nil && !p.Outside || ws.WholeDisk() || write && ws.OnlyRead() {
		return f, false
	}
	dir := real
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		if filepath.Dir(dir) == dir {
			return f, false
		}
		dir = filepath.Dir(dir)
	}
	if own := realPath(home); filepath.Dir(dir) == dir || own != "" && (inFolder(real, own) || inFolder(dir, own)) {
		return f, false
	}
	return protocol.FolderAccess{Path: workspace.Spell(dir), Write: write, Warning: warning(real, dir)}, true
}

// inFolder reports whether a path is a folder or lies in it.
func inFolder(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// warning says why opening a folder for a path is dangerous, if it is.
func warning(path, dir string) string {
	if place := sandbox.SecretPlace(path); place != "" {
		return "it holds keys or tokens: " + place
	}
	if user, err := os.UserHomeDir(); err == nil && inFolder(realPath(user), dir) {
		return "it holds everything in your home folder"
	}
	for _, system := range []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/var/lib", "/System", "/Library", os.Getenv("SystemRoot")} {
		if system != "" && inFolder(dir, system) {
			return "it belongs to the system"
		}
	}
	return ""
}

// realPath returns an absolute path without symbolic links, as far as it exists.
func realPath(path string) string {
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

// beyond previews a call of a file tool. If its path lies outside and the person could open its
// folder for this call, the preview describes the call with that folder open, and names it.
func (f *files) beyond(path string, write bool, preview func(*files) (protocol.CallPreview, error)) (protocol.CallPreview, error) {
	p, err := preview(f)
	if err != nil || !p.Outside || p.Problem == "" {
		return p, err
	}
	asked, _ := f.ws.Resolve(path) // absolute even when it is refused
	need, ok := folderFor(f.ws, f.home, asked.Abs, write)
	if asked.Abs == "" || !ok {
		return p, nil
	}
	wide, done, err := f.wide([]protocol.FolderAccess{need})
	if err != nil {
		return p, nil // the first preview: the folder cannot be opened
	}
	defer done()
	q, err := preview(wide)
	q.Outside, q.Folders = true, []protocol.FolderAccess{need}
	q.Secret = secretOf(f.ws, realPath(asked.Abs))
	return q, err
}

// wide returns f with additional folders open; done closes them.
func (f *files) wide(list []protocol.FolderAccess) (wide *files, done func(), err error) {
	if len(list) == 0 {
		return f, func() {}, nil
	}
	ws, err := f.ws.With(workspace.Grant{Dir: workspace.Unspell(list[0].Path), ReadOnly: !list[0].Write}) // a file tool has one path
	if err != nil {
		return nil, nil, err
	}
	c := *f
	c.ws = ws
	return &c, func() { ws.Close() }, nil
}

// bound returns f for the place that a call is bound to.
func (f *files) bound(ctx context.Context) *files {
	place := placeOf(ctx)
	if place == "" {
		return f
	}
	c := *f
	c.ws = f.ws.Bound(place)
	return &c
}

// opened runs a call with the folders that the person opened for it.
func opened[In, Out any](f *files, do func(*files, context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		wide, done, err := f.wide(foldersOf(ctx))
		if err != nil {
			return out, err
		}
		defer done()
		return do(wide, ctx, in)
	}
}
