package access

import (
	"path/filepath"
	"slices"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// SecretOf returns the name of the secret place, such as ~/.ssh, that a path without symbolic links
// is or lies in. It is empty for other paths, and when the person made that place, or a folder in
// it, the workspace or granted it.
func SecretOf(ws *workspace.Root, path string) string {
	in := false
	for _, p := range sandbox.Places() {
		if !p.Contains(path) {
			continue
		}
		if in = true; !p.IsPublic(path) && !IsChosen(ws, p, path) {
			return p.Name
		}
	}
	if name := filepath.Base(path); !in && sensitive.SecretName(name) {
		return name
	}
	return ""
}

// IsChosen reports whether a path in a secret place lies in a folder of that place that is the
// workspace or was granted.
func IsChosen(ws *workspace.Root, p sandbox.Place, path string) bool {
	chosen := func(dir string) bool { return p.Contains(dir) && InFolder(path, dir) }
	return chosen(ws.Dir()) || slices.ContainsFunc(ws.Grants(), func(g workspace.Grant) bool { return chosen(g.Dir) })
}
