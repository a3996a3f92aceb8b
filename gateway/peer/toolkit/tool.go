// Package toolkit lets a tool be written once with Go types: schemas, validation, effect and capability follow from its
// definition, and every surface (node, agent, RPC, MCP, REST) uses the same [Tool].
package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// Traits is what a tool's maker declares beside its function.
type Traits struct {
	Effect     protocol.Effect
	Idempotent bool     // calling twice does the same as calling once
	AcceptsKey bool     // it passes [IdempotencyKey] on to what it changes
	Caps       []string // capability ids
}

// Tool is one callable tool. Handle takes and gives raw JSON.
type Tool struct {
	Spec    protocol.ToolSpec
	Caps    []string
	handle  func(context.Context, json.RawMessage) (json.RawMessage, error)
	preview func(context.Context, json.RawMessage) (protocol.CallPreview, error)
}

// Risky reports whether a tool has an effect, is not idempotent and ignores its key: when a call's outcome is unknown, nothing tells a repetition from
// the first time. Whoever starts with such a tool is warned.
func Risky(s protocol.ToolSpec) bool {
	effect := s.Effect != protocol.EffectRead && s.Effect != protocol.EffectUnknown || s.SideEffect != nil && *s.SideEffect
	return effect && !s.Idempotent && !s.AcceptsKey
}

// Declared is s as its maker means it: an effect that nobody knows is none that was declared, and one that was declared as no side effect is a read
// . A tool of which nothing was declared is not taken for a pure read as there: it stays unknown, and is asked about.
func Declared(s protocol.ToolSpec) protocol.ToolSpec {
	changes := s.SideEffect != nil && *s.SideEffect
	switch s.Effect {
	case protocol.EffectWrite, protocol.EffectExec, protocol.EffectNetwork:
		return s
	case protocol.EffectRead:
		if !changes {
			return s
		}
	}
	s.Effect = protocol.EffectUnknown
	if s.SideEffect != nil && !changes {
		s.Effect = protocol.EffectRead
	}
	return s
}

type keyKey struct{}

// WithIdempotencyKey gives a call its key.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

// IdempotencyKey is the same for every attempt of a call and another for every other call; empty when the gateway gave none. A tool that
// changes something elsewhere passes it on, so that a repetition is recognized there.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// InputError says that a call's arguments do not fit the tool. Its text is meant for the model.
type InputError struct{ Err error }

func (e *InputError) Error() string { return Brief("Invalid arguments: " + e.Err.Error()) }
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
	out, err := t.handle(ctx, args)
	return out, brief(err)
}

// Preview says what Call would do; ok is false for a tool that cannot say.
func (t Tool) Preview(ctx context.Context, args json.RawMessage) (p protocol.CallPreview, ok bool, err error) {
	if t.preview == nil {
		return protocol.CallPreview{}, false, nil
	}
	p, err = t.preview(ctx, args)
	return p, true, brief(err)
}
