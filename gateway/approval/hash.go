package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
)

// Canonical is JSON with sorted keys and without white space, so that equal arguments have equal text.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical arguments: %w", err)
	}
	return protocol.Marshal(v)
}

// Hash is over everything that makes the call what it is: machine, tool, arguments, and what it was seen to touch.
func Hash(a protocol.Approval) (string, error) {
	args, err := Canonical(a.Args)
	if err != nil {
		return "", err
	}
	p := protocol.CallPreview{}
	if a.Preview != nil {
		p = *a.Preview
	}
	raw, err := protocol.Marshal([]any{a.Kind, a.Node, a.Tool, args, p.Path, p.Folder, p.Shell, p.Diff, p.FileSHA256, p.Programs})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
