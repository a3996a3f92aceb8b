package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"fairlead/gateway/protocol"
)

// Match is what a later call must be to run on the session grant of question a: for a file tool the same file, for anything else exactly the
// same arguments in the same folder. Machine and tool are compared beside it.
func Match(a protocol.Approval) string {
	if path := filePath(a); path != "" {
		return "file:" + path
	}
	args, err := Canonical(a.Args)
	if err != nil {
		args = a.Args
	}
	folder := ""
	if a.Preview != nil {
		folder = a.Preview.Folder
	}
	sum := sha256.Sum256([]byte(folder + "\x00" + string(args)))
	return "exact:" + hex.EncodeToString(sum[:])
}

// filePath is the file that a read or write is about, as the machine resolved it.
func filePath(a protocol.Approval) string {
	if a.Preview == nil || a.Effect != protocol.EffectWrite && a.Effect != protocol.EffectRead {
		return ""
	}
	return a.Preview.Path
}

// choices sets which scopes an allow may have, and says in words what the wider one lets through. Nobody may allow for longer than
// once what was not shown in full.
func choices(a *protocol.Approval) {
	a.Choices, a.SessionRule = []string{protocol.ScopeOnce}, ""
	if a.SessionKey == "" || a.Kind != protocol.AskCall || a.Preview != nil && a.Preview.Truncated {
		return
	}
	a.Choices = append(a.Choices, protocol.ScopeSession)
	switch path := filePath(*a); {
	case path != "":
		a.SessionRule = fmt.Sprintf("%s may use %s on %s for the rest of this chat.", a.Tool, path, a.Node)
	case a.Preview != nil && a.Preview.Folder != "":
		a.SessionRule = fmt.Sprintf("%s may run with exactly these arguments in %s on %s for the rest of this chat.", a.Tool, a.Preview.Folder, a.Node)
	default:
		a.SessionRule = fmt.Sprintf("%s may run with exactly these arguments on %s for the rest of this chat.", a.Tool, a.Node)
	}
}

// Question completes the question whether a call may run: ID, choices, what a session rule would mean, and the hash of it all.
func Question(a protocol.Approval) protocol.Approval {
	a.Kind = protocol.AskCall
	if a.ID == "" {
		a.ID = protocol.ApprovalID(protocol.NewID())
	}
	choices(&a)
	a.Hash = Hash(a)
	return a
}
