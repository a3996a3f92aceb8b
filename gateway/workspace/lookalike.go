package workspace

import (
	"io/fs"
	"path"
	"strings"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// lookAlikeHint names the only file or folder of some layers that looks like a missing one; "" if
// none or several do. It does not name a file for the person's own chats to somebody who asked for
// another one.
func lookAlikeHint(layers []layer, name string) string {
	found := ""
	for _, l := range layers {
		at := lookAlike(l.fsys, l.at)
		if at == "" {
			continue
		}
		if isSkillPath(name) && l.source != protocol.SkillAgent {
			at = path.Join("skills", at)
		}
		if found != "" && at != found {
			return ""
		}
		found = at
	}
	if found == "" || found == name || Personal(found) && !Personal(name) {
		return ""
	}
	return stream.LookAlikeHint(found)
}

// lookAlike returns the only existing path that looks like name, which may be name itself; "" if none
// or several exist.
func lookAlike(fsys fs.FS, name string) (found string) {
	if _, err := fs.Stat(fsys, name); err == nil || name == "." {
		return name
	}
	folder := lookAlike(fsys, path.Dir(name))
	if folder == "" {
		return ""
	}
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if stream.Look(e.Name()) != stream.Look(path.Base(name)) || strings.HasPrefix(e.Name(), ".fairlead-") {
			continue
		}
		if found != "" {
			return ""
		}
		found = path.Join(folder, e.Name())
	}
	return found
}
