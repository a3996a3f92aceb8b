package toolkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// Arguments checks args against a JSON schema and returns them in the form that it wants: with
// numbers, true, false, lists and objects that came in quotes. A schema that cannot be parsed or has
// references accepts all unambiguous arguments; the node then decides.
func Arguments(schema, args json.RawMessage) (json.RawMessage, error) {
	s := preparedSchema(schema)
	if s.resolved == nil {
		if err := checkAmbiguity(args); err != nil {
			return nil, err
		}
		return unquote(s.schema, args), nil
	}
	return validArguments(s.resolved, args)
}

// Validate is [Arguments] for callers that need only the error.
func Validate(schema, args json.RawMessage) error {
	_, err := Arguments(schema, args)
	return err
}

// ParseSchema returns a schema that somebody else has made; nil for one that is invalid or has
// references.
func ParseSchema(schema json.RawMessage) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	if preparedSchema(schema).resolved == nil || json.Unmarshal(schema, s) != nil {
		return nil
	}
	return s
}

// maxSchemas is the maximum number of cached schemas; a typical gateway uses a few dozen.
const maxSchemas = 1024

// schemas caches prepared schemas: preparing one takes longer than the rest of a small call.
var schemas = struct {
	mu       sync.Mutex // guards prepared
	prepared map[string]preparedForm
}{prepared: make(map[string]preparedForm)}

// preparedForm is a schema that is ready for use.
type preparedForm struct {
	schema   *jsonschema.Schema   // nil if it cannot be parsed
	resolved *jsonschema.Resolved // nil if it accepts everything
}

func preparedSchema(schema json.RawMessage) preparedForm {
	schemas.mu.Lock()
	defer schemas.mu.Unlock()
	r, ok := schemas.prepared[string(schema)]
	if !ok {
		r = prepare(schema)
		if len(schemas.prepared) >= maxSchemas {
			clear(schemas.prepared)
		}
		schemas.prepared[string(schema)] = r
	}
	return r
}

func prepare(schema json.RawMessage) preparedForm {
	s := new(jsonschema.Schema)
	var tree any
	if len(schema) == 0 || json.Unmarshal(schema, s) != nil || json.Unmarshal(schema, &tree) != nil {
		return preparedForm{}
	}
	if hasReference(tree) {
		return preparedForm{schema: s}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return preparedForm{schema: s}
	}
	return preparedForm{s, resolved}
}

// hasReference reports whether an untrusted schema has a reference, which may be circular.
func hasReference(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "$ref" || key == "$dynamicRef" || hasReference(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasReference)
	}
	return false
}

// byteTypes are the types of bytes that are not encoded as lists of numbers.
var byteTypes = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {Description: "any JSON value"},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}}

func schemaFor(name string, t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, byteTypes)
	if err != nil {
		panic(fmt.Sprintf("tool %s: infer schema: %v", name, err))
	}
	// Unknown arguments are ignored, so a schema must not forbid them.
	s.AdditionalProperties = nil
	return s
}

// plainTypes removes null from the types of optional arguments: some model APIs refuse type lists.
func plainTypes(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		if len(p.Types) == 2 && slices.Contains(p.Types, "null") && !slices.Contains(s.Required, name) {
			p.Type = p.Types[0]
			if p.Type == "null" {
				p.Type = p.Types[1]
			}
			p.Types = nil
		}
	}
}

func validArguments(s *jsonschema.Resolved, raw json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		raw = json.RawMessage("{}")
	}
	var instance map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&instance); err != nil {
		return nil, &InputError{unreadable(err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &InputError{errors.New("more than one JSON value")}
	}
	if err := checkDuplicates(raw); err != nil {
		return nil, &InputError{err}
	}
	if plain := unquote(s.Schema(), raw); len(plain) != len(raw) {
		raw, instance = plain, nil
		if err := json.Unmarshal(raw, &instance); err != nil {
			return nil, &InputError{unreadable(err)}
		}
	}
	if err := removeNulls(s.Schema(), instance); err != nil {
		return nil, &InputError{err}
	}
	if err := s.Validate(instance); err != nil {
		return nil, &InputError{explain(s.Schema(), instance, err)}
	}
	return raw, nil
}

func decode[In any](s *jsonschema.Resolved, raw json.RawMessage) (In, error) {
	var in In
	raw, err := validArguments(s, raw)
	if err != nil {
		return in, err
	}
	if err = protocol.Unmarshal(raw, &in); err != nil {
		return in, &InputError{unreadable(err)}
	}
	if err := protocol.CheckIDs(raw, &in); err != nil {
		return in, &InputError{err}
	}
	return in, nil
}

// unreadable explains why arguments could not be decoded, without Go terms.
func unreadable(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return errors.New(protocol.Problem(err))
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

func mustJSON(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
