package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options make the second version of encoding/json, which reads and writes large values several
// times faster, behave like the first one. HTML is not escaped, so that commands and file contents
// stay readable on the wire. Errors come from the first version: see [Unmarshal].
var options = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsonv1.ReportErrorsWithLegacySemantics(false))

// Marshal is json.Marshal without HTML escaping. A nil value gives nil.
func Marshal(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return jsonv2.Marshal(v, options)
}

// Encode is [Marshal] for values that can be encoded: plain fields, without functions and cycles.
func Encode(v any) json.RawMessage {
	raw, err := Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// PartAt returns the part of a decoded value to which names of fields and indexes of lists lead.
func PartAt(v any, path []string) (part any, ok bool) {
	for _, name := range path {
		switch at := v.(type) {
		case map[string]any:
			if v, ok = at[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// marshalNumbers is [Marshal] for values with a [json.Number], which only the first version knows.
func marshalNumbers(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Readable returns JSON with the characters that others have escaped in its strings, such as <
// instead of \u003c. Invalid JSON is returned as it is.
func Readable(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	v := jsontext.Value(bytes.Clone(raw))
	if v.Format(jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return raw
	}
	return json.RawMessage(v)
}

// Canonical returns the JSON with sorted keys and without white space, for comparison.
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
	return marshalNumbers(v)
}

// CallHash returns the hash that binds an approval to its call: machine, tool, arguments, preview,
// and the version of the rules; opened are the folders that the person allowed for the call. The
// gateway hashes what it shows to the person, and the node what it is about to do. When the hashes
// differ, the node refuses the call. docs/protocol.md#tools-and-calls has the format.
func CallHash(kind string, node NodeID, tool string, args json.RawMessage, preview *CallPreview, policy string, opened ...FolderAccess) (string, error) {
	canonical, err := Canonical(args)
	if err != nil {
		return "", err
	}
	var p CallPreview
	if preview != nil {
		p = *preview
	}
	what := []any{kind, node, tool, canonical, p.Path, p.Folder, p.Shell, p.Diff, p.FileSHA256, p.Programs, policy}
	if len(p.Folders) > 0 || len(opened) > 0 {
		what = append(what, p.Folders, opened)
	}
	raw, err := Marshal(what)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Unmarshal is json.Unmarshal that also decodes whole numbers such as 1e7 and 1.0 into Go's
// integers. They are integers in JSON Schema. Invalid data is decoded as far as possible.
func Unmarshal(data []byte, v any) error {
	if jsonv2.Unmarshal(data, v, options) == nil {
		return nil
	}
	err := json.Unmarshal(data, v)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || !strings.HasPrefix(kind.Value, "number ") {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var plain any
	if d.Decode(&plain) != nil {
		return err
	}
	rewritten, marshalErr := marshalNumbers(rewriteNumbers(plain))
	if marshalErr != nil {
		return err
	}
	return json.Unmarshal(rewritten, v)
}

// rewriteNumbers writes the whole numbers in a value with digits only.
func rewriteNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = rewriteNumbers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = rewriteNumbers(value)
		}
	case json.Number:
		return plainNumber(v)
	}
	return v
}

// maxDigits is the maximum number of digits of a rewritten number; an int64 has at most 19. maxNumber
// is the maximum length of its text.
const (
	maxDigits = 19
	maxNumber = 100
)

// plainNumber returns a number unchanged if it is not whole or has too many digits.
func plainNumber(n json.Number) json.Number {
	_, power, _ := strings.Cut(strings.ToLower(string(n)), "e")
	exponent, err := strconv.Atoi(power)
	if power != "" && err != nil || max(exponent, -exponent) > maxDigits || len(n) > maxNumber {
		return n
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() || len(strings.TrimPrefix(r.Num().String(), "-")) > maxDigits {
		return n
	}
	return json.Number(r.Num().String())
}
