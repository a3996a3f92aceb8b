package approval

import (
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// What a permission for a chat is compared with starts so: then follow the folder and the arguments, or the file.
const (
	callMatch = "call "
	pathMatch = "path "
)

const exactCommand = "exactly this command, in this folder"

func anyOf(tool, path string) string { return fmt.Sprintf("any %s of %s", strings.ToLower(tool), path) }

// SessionGrant says what an allow for the session would let through: in the form that calls are compared with, and in words. ok is false
// where nothing narrow enough can be said.
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
