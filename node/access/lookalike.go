package access

import (
	"path/filepath"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// MissingError describes why a file or folder could not be read, as [NameLookAlike] does.
func MissingError(ws *workspace.Root, p workspace.Path, err error) error {
	return NameLookAlike(ws, p, ReadError(p, err))
}

// NameLookAlike adds to the failure that a file does not exist the path that looks the same, if there
// is exactly one: names are compared exactly everywhere, so that what was approved is what is opened.
func NameLookAlike(ws *workspace.Root, p workspace.Path, failure error) error {
	f := FaultOf(failure)
	if f == nil || f.Code != protocol.FaultNotFound {
		return failure
	}
	other := lookAlike(ws, p.Abs)
	if other == "" || other == p.Abs {
		return failure
	}
	f.Message += stream.LookAlikeHint(workspace.Spell(other))
	return f
}

// lookAlike returns the only existing path that looks like path, which may be path itself; empty if
// none or several exist.
func lookAlike(ws *workspace.Root, path string) (found string) {
	at, err := ws.At(path)
	if err != nil {
		return ""
	}
	if _, _, err := ws.Target(at); err == nil {
		return path
	}
	name, folder := filepath.Base(path), filepath.Dir(path)
	if folder == path {
		return ""
	}
	if folder = lookAlike(ws, folder); folder == "" {
		return ""
	}
	if at, err = ws.At(folder); err != nil {
		return ""
	}
	dir, err := ws.OpenDir(at)
	if err != nil {
		return ""
	}
	defer dir.Close()
	want, count := stream.Look(name), 0
	err = dir.Each(func(e workspace.Entry) bool {
		if stream.Look(e.Name) == want && !workspace.IsInternal(e.Name) {
			found = filepath.Join(folder, e.Name)
			count++
		}
		return count < 2
	})
	if err != nil || count != 1 {
		return ""
	}
	return found
}
