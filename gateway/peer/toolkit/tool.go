// Package toolkit defines tools from Go types: their schemas, validation, effect and capabilities.
// Every interface (node, agent, RPC, MCP, REST) uses the same [Tool].
package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Traits are the properties of a tool that its author declares.
type Traits struct {
	Effect     protocol.Effect
	Idempotent bool     // calling it twice has the same result as calling it once
	AcceptsKey bool     // passes the call's idempotency key on to the system that it changes
	Caps       []string // capability IDs
}

// Tool is one callable tool. C is what a call has beside its arguments, such as who made it.
type Tool[C any] struct {
	Spec    protocol.ToolSpec
	Caps    []string
	input   *jsonschema.Resolved
	handle  func(context.Context, C, json.RawMessage) (json.RawMessage, error)
	preview func(context.Context, C, json.RawMessage) (protocol.CallPreview, error)
}

// Risky reports whether a repetition of a call cannot be recognized if its outcome is unknown: the
// tool has an effect, is not idempotent and ignores its idempotency key.
func Risky(s protocol.ToolSpec) bool {
	effect := s.Effect != protocol.EffectRead && s.Effect != protocol.EffectUnknown || s.SideEffect != nil && *s.SideEffect
	return effect && !s.Idempotent && !s.AcceptsKey
}

// Declared returns s with its effective Effect. A tool that declares only that it has no side
// effect is a read. One that declares nothing keeps the unknown effect and needs an approval,
// unlike in GSV, which treats it as a read.
func Declared(s protocol.ToolSpec) protocol.ToolSpec {
	changes := s.SideEffect != nil && *s.SideEffect
	switch {
	case s.Effect == protocol.EffectWrite, s.Effect == protocol.EffectExec, s.Effect == protocol.EffectNetwork:
	case !changes && (s.Effect == protocol.EffectRead || s.SideEffect != nil):
		s.Effect = protocol.EffectRead
	default:
		s.Effect = protocol.EffectUnknown
	}
	return s
}

// InputError reports that the arguments of a call do not fit the tool. Its text is for the model.
type InputError struct{ Err error }

func (e *InputError) Error() string { return Brief("Invalid arguments: " + e.Err.Error()) }
func (e *InputError) Unwrap() error { return e.Err }

// Define creates a tool from a function. Both schemas are inferred from In and Out; doc is the
// description for the model. It panics on types without a schema, which the first test finds. If
// Out is an interface, the tool has no output schema; see [WithResults].
//
// An optional argument is a field with omitempty. A null for it counts as missing, because many
// models write it.
//
// An error of fn is the tool's failure, and the model gets its text.
func Define[C, In, Out any](name, doc string, t Traits, fn func(context.Context, C, In) (Out, error)) Tool[C] {
	in := schemaFor(name, reflect.TypeFor[In]())
	plainTypes(in)
	resolved, err := in.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: resolve input schema: %v", name, err))
	}
	var out json.RawMessage
	if t := reflect.TypeFor[Out](); t.Kind() != reflect.Interface {
		out = mustJSON(schemaFor(name, t))
	}
	return Tool[C]{
		Spec: protocol.ToolSpec{
			Name: name, Description: doc, InputSchema: mustJSON(in), OutputSchema: out,
			Effect: t.Effect, Idempotent: t.Idempotent, AcceptsKey: t.AcceptsKey,
		},
		Caps:  t.Caps,
		input: resolved,
		handle: func(ctx context.Context, call C, raw json.RawMessage) (json.RawMessage, error) {
			v, err := decode[In](resolved, raw)
			if err != nil {
				return nil, err
			}
			out, err := fn(ctx, call, v)
			if err != nil {
				return nil, err
			}
			return protocol.Marshal(out)
		},
	}
}

// WithPreview returns t with a function, without effects, that describes what a call would do.
func WithPreview[C, In any](t Tool[C], fn func(context.Context, C, In) (protocol.CallPreview, error)) Tool[C] {
	t.preview = func(ctx context.Context, call C, raw json.RawMessage) (protocol.CallPreview, error) {
		v, err := decode[In](t.input, raw)
		if err != nil {
			return protocol.CallPreview{}, err
		}
		return fn(ctx, call, v)
	}
	return t
}

// WithResults returns t with an output schema for a function whose result has one of the types of
// these values.
func WithResults[C any](t Tool[C], results ...any) Tool[C] {
	s := &jsonschema.Schema{Type: "object"}
	for _, r := range results {
		s.AnyOf = append(s.AnyOf, schemaFor(t.Spec.Name, reflect.TypeOf(r)))
	}
	t.Spec.OutputSchema = mustJSON(s)
	return t
}

// Call validates args and runs the tool. Invalid arguments are an *InputError.
func (t Tool[C]) Call(ctx context.Context, call C, args json.RawMessage) (json.RawMessage, error) {
	out, err := t.handle(ctx, call, args)
	return out, shortenError(err)
}

// Preview describes what Call would do; ok is false for a tool without a preview.
func (t Tool[C]) Preview(ctx context.Context, call C, args json.RawMessage) (p protocol.CallPreview, ok bool, err error) {
	if t.preview == nil {
		return protocol.CallPreview{}, false, nil
	}
	p, err = t.preview(ctx, call, args)
	return p, true, shortenError(err)
}

// maxWholeNumber is the largest whole number that JSON carries reliably.
const maxWholeNumber = 1 << 53

// WholeNumber reads an optional argument that is a whole number of 0 or more; nil returns
// otherwise. Models write both 10 and 10.0. Numbers above 2^53 are reduced to that.
func WholeNumber(name string, v *float64, otherwise int64) (int64, error) {
	if v == nil {
		return otherwise, nil
	}
	if *v < 0 || *v != math.Trunc(*v) {
		return 0, &InputError{Err: fmt.Errorf("%s must be a whole number of 0 or more, not %v", name, *v)}
	}
	return int64(min(*v, maxWholeNumber)), nil
}

// Failf returns an error whose text the model gets unchanged. Unlike other errors it is a sentence
// or a text of GSV, which peers compare.
func Failf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// maxError is the maximum length in bytes of an error's text, because it is sent to a model.
const maxError = 4000

// Brief cuts the middle out of a long error text, such as one that repeats a path of a megabyte.
func Brief(text string) string {
	return format.CutMiddle(text, maxError/2, maxError/2, " […] ")
}

// briefError is an error whose text is shortened.
type briefError struct{ error }

func (e briefError) Error() string { return Brief(e.error.Error()) }
func (e briefError) Unwrap() error { return e.error }

func shortenError(err error) error {
	if err == nil || len(err.Error()) <= maxError {
		return err
	}
	return briefError{err}
}
