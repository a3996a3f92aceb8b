package approval

import (
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Prefixes of the text with which a chat's permission is compared. The folder and the arguments
// follow, or the file.
const (
	callMatch = "call "
	pathMatch = "path "
)

const exactCommand = "exactly this command, in this folder"

func anyOf(tool, path string) string { return fmt.Sprintf("any %s of %s", strings.ToLower(tool), path) }

// SessionGrant returns what an allow for the session would permit: in the form that calls are
// compared with, and as a description. ok is false if nothing narrow enough can be expressed.
func SessionGrant(r Request) (match, words string, ok bool) {
	if r.Preview == nil || r.Preview.Truncated {
		return "", "", false
	}
	switch r.Effect {
	case protocol.EffectExec:
		args, err := Canonical(r.Args)
		if err != nil {
			return "", "", false
		}
		return callMatch + r.Preview.Folder + " " + string(args), exactCommand, true
	case protocol.EffectWrite, protocol.EffectRead:
		if r.Preview.Path == "" {
			return "", "", false
		}
		return pathMatch + r.Preview.Path, anyOf(r.Bare, r.Preview.Path), true
	}
	return "", "", false
}

func granted(r Request) bool {
	match, _, ok := SessionGrant(r)
	if !ok {
		return false
	}
	for _, g := range r.Grants {
		if g.Node == r.Node && g.Tool == r.Bare && g.Match == match {
			return true
		}
	}
	return false
}
