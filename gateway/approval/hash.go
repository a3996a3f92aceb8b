package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fairlead/gateway/protocol"
)

// Canonical rewrites a JSON value so that equal values have equal bytes: sorted keys, no blanks, numbers as they were written.
// Nothing at all counts as an empty object, as tools see it.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("canonical JSON: more than one value")
	}
	if v == nil {
		return json.RawMessage("null"), nil
	}
	return protocol.Marshal(v)
}

// shown is everything in a question that decides what would happen. Its JSON is what [Hash] is over.
type shown struct {
	Kind       string          `json:"kind"`
	Node       protocol.NodeID `json:"node"`
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Folder     string          `json:"folder"`
	Path       string          `json:"path"`
	Diff       string          `json:"diff"`
	FileSHA256 string          `json:"fileSha256"`
	Run        protocol.RunID  `json:"run"`
	Call       protocol.CallID `json:"call"`
}

// Hash is the fingerprint of what a question shows: machine, tool, arguments, folder or path, diff and the file's state, for one call of
// one run. Arguments that are not JSON count as their text.
func Hash(a protocol.Approval) string {
	args, err := Canonical(a.Args)
	if err != nil {
		args, _ = protocol.Marshal(string(a.Args))
	}
	s := shown{Kind: a.Kind, Node: a.Node, Tool: a.Tool, Args: args, Run: a.RunID, Call: a.CallID}
	if p := a.Preview; p != nil {
		s.Folder, s.Path, s.Diff, s.FileSHA256 = p.Folder, p.Path, p.Diff, p.FileSHA256
	}
	raw, err := protocol.Marshal(s)
	if err != nil {
		panic(err) // strings and valid JSON only
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
