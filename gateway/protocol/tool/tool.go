// Package tool lets a tool be written once with Go types: schemas, validation, effect and capability follow from its
// definition, and every surface (node, agent, RPC, MCP, REST) uses the same [Tool].
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// Traits is what a tool's maker declares beside its function.
type Traits struct {
	Effect     protocol.Effect
	Idempotent bool     // calling twice does the same as calling once
	AcceptsKey bool     // it passes [IdempotencyKey] on to what it changes
	Caps       []string // capability ids (seed 000, Capability Mapping)
}

// Tool is one callable tool. Handle takes and gives raw JSON.
type Tool struct {
	Spec    protocol.ToolSpec
	Caps    []string
	handle  func(context.Context, json.RawMessage) (json.RawMessage, error)
	preview func(context.Context, json.RawMessage) (protocol.CallPreview, error)
}

// Risky reports whether a tool has an effect, is not idempotent and ignores its key: when a call's outcome is unknown, nothing tells a repetition from
// the first time (seed 001, Side Effects). Whoever starts with such a tool is warned.
func Risky(s protocol.ToolSpec) bool {
	return s.Effect != protocol.EffectRead && s.Effect != protocol.EffectUnknown && !s.Idempotent && !s.AcceptsKey
}

type keyKey struct{}

// WithIdempotencyKey gives a call its key.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

// IdempotencyKey is the same for every attempt of a call and another for every other call (seed 001); empty when the gateway gave none. A tool that
// changes something elsewhere passes it on, so that a repetition is recognized there.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// InputError says that a call's arguments do not fit the tool. Its text is meant for the model.
type InputError struct{ Err error }

func (e *InputError) Error() string { return "Invalid arguments: " + e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// Define makes a tool from a function. Both schemas are inferred from In and Out; doc is the description for the model. It panics on
// types that have no schema: the first test finds that. An Out that is an interface gives no output schema.
//
// An optional argument is a field with omitempty; null for it means that it was left out, as many models write it.
//
// An error of fn is the tool's failure, told to the model as it is.
func Define[In, Out any](name, doc string, t Traits, fn func(context.Context, In) (Out, error)) Tool {
	in := schemaFor[In](name)
	plainTypes(in)
	resolved, err := in.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: resolve input schema: %v", name, err))
	}
	var out json.RawMessage
	if reflect.TypeFor[Out]().Kind() != reflect.Interface {
		out = mustJSON(schemaFor[Out](name))
	}
	return Tool{
		Spec: protocol.ToolSpec{
			Name: name, Description: doc, InputSchema: mustJSON(in), OutputSchema: out,
			Effect: t.Effect, Idempotent: t.Idempotent, AcceptsKey: t.AcceptsKey,
		},
		Caps: t.Caps,
		handle: func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
			v, err := decode[In](resolved, raw)
			if err != nil {
				return nil, err
			}
			out, err := fn(ctx, v)
			if err != nil {
				return nil, err
			}
			return protocol.Marshal(out)
		},
	}
}

// WithPreview returns t with a function that says what a call would do. It must have no effect.
func WithPreview[In any](t Tool, fn func(context.Context, In) (protocol.CallPreview, error)) Tool {
	var in jsonschema.Schema
	if err := json.Unmarshal(t.Spec.InputSchema, &in); err != nil {
		panic(err)
	}
	resolved, err := in.Resolve(nil)
	if err != nil {
		panic(err)
	}
	t.preview = func(ctx context.Context, raw json.RawMessage) (protocol.CallPreview, error) {
		v, err := decode[In](resolved, raw)
		if err != nil {
			return protocol.CallPreview{}, err
		}
		return fn(ctx, v)
	}
	return t
}

// Call validates args and runs the tool. The error is the tool's failure; arguments that do not fit give an *InputError.
func (t Tool) Call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	return t.handle(ctx, args)
}

// Preview says what Call would do; ok is false for a tool that cannot say.
func (t Tool) Preview(ctx context.Context, args json.RawMessage) (p protocol.CallPreview, ok bool, err error) {
	if t.preview == nil {
		return protocol.CallPreview{}, false, nil
	}
	p, err = t.preview(ctx, args)
	return p, true, err
}

// Validate checks args against a JSON schema, as a gateway does before it dispatches a call. A schema that cannot be
// understood, or that refers to itself or others, accepts everything: the node has the last word.
func Validate(schema, args json.RawMessage) error {
	resolved := schemas.get(schema)
	if resolved == nil {
		return nil
	}
	_, err := validated(resolved, args)
	return err
}

// maxSchemas is how many schemas are kept ready; a fleet has a few dozen.
const maxSchemas = 1024

// schemas keeps schemas ready for use: preparing one takes longer than all the rest of a small call.
var schemas = cache{ready: make(map[string]*jsonschema.Resolved)}

type cache struct {
	mu    sync.Mutex // guards ready
	ready map[string]*jsonschema.Resolved
}

// get returns nil for a schema that accepts everything.
func (c *cache) get(schema json.RawMessage) *jsonschema.Resolved {
	c.mu.Lock()
	resolved, ok := c.ready[string(schema)]
	c.mu.Unlock()
	if ok {
		return resolved
	}
	resolved = prepare(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ready) >= maxSchemas {
		clear(c.ready)
	}
	c.ready[string(schema)] = resolved
	return resolved
}

func prepare(schema json.RawMessage) *jsonschema.Resolved {
	var s jsonschema.Schema
	var tree any
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil || json.Unmarshal(schema, &tree) != nil || refers(tree) {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved
}

// refers reports whether a schema has a reference. One that leads back to itself would exhaust the stack, and a node's schema comes
// from outside.
func refers(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "$ref" || key == "$dynamicRef" || refers(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, refers)
	}
	return false
}

func schemaFor[T any](name string) *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: infer schema: %v", name, err))
	}
	// Unknown arguments are ignored (seed 004: unknown fields), so a schema must not forbid them.
	s.AdditionalProperties = nil
	return s
}

// plainTypes takes null out of the optional arguments' types: it is accepted anyhow, and some model APIs refuse lists of types.
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

func validated(s *jsonschema.Resolved, raw json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		raw = json.RawMessage("{}")
	}
	var instance map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&instance); err != nil {
		return nil, &InputError{fmt.Errorf("not a JSON object: %w", err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &InputError{errors.New("more than one JSON value")}
	}
	if schema := s.Schema(); schema.Properties != nil {
		maps.DeleteFunc(instance, func(name string, v any) bool { return v == nil && !slices.Contains(schema.Required, name) })
	}
	if err := s.Validate(instance); err != nil {
		return nil, &InputError{err}
	}
	return raw, nil
}

func decode[In any](s *jsonschema.Resolved, raw json.RawMessage) (In, error) {
	var in In
	raw, err := validated(s, raw)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, &InputError{err}
	}
	return in, nil
}

func mustJSON(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
