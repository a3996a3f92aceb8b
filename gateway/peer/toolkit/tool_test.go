package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
)

type in struct {
	Path  string   `json:"path" jsonschema:"where"`
	Limit *float64 `json:"limit,omitempty"`
	All   bool     `json:"all,omitempty"`
	Deep  struct {
		Name string `json:"name"`
	} `json:"deep,omitzero"`
}

type out struct {
	Path string `json:"path"`
	HTML string `json:"html"`
}

var errFull = errors.New("the disk is full")

func sample() toolkit.Tool[struct{}] {
	return toolkit.Define("Sample", "Does things.", toolkit.Traits{Effect: protocol.EffectWrite, Idempotent: true, Caps: []string{protocol.CapWrite}},
		func(_ context.Context, _ struct{}, v in) (out, error) {
			if v.Path == "full" {
				return out{Path: "half"}, errFull
			}
			return out{Path: v.Path, HTML: "<&>"}, nil
		})
}

func TestDefineDerivesTheSpec(t *testing.T) {
	t.Parallel()
	s := sample()
	if s.Spec.Name != "Sample" || s.Spec.Description != "Does things." || s.Spec.Effect != protocol.EffectWrite || !s.Spec.Idempotent {
		t.Errorf(`spec = %+v; want Spec.Name "Sample", Spec.Description "Does things.", Spec.Effect EffectWrite and Spec.Idempotent`, s.Spec)
	}
	if len(s.Caps) != 1 || s.Caps[0] != protocol.CapWrite {
		t.Errorf("caps = %v; want length 1 and Caps[0] CapWrite", s.Caps)
	}
	var schema struct {
		Type       string   `json:"type"`
		Required   []string `json:"required"`
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(s.Spec.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || strings.Join(schema.Required, " ") != "path" || schema.Properties["path"].Description != "where" {
		t.Errorf(`input schema = %s; want Type "object", Required "path" and Properties["path"].Description "where"`, s.Spec.InputSchema)
	}
	if strings.Contains(string(s.Spec.InputSchema), "additionalProperties\":false,\"type") {
		t.Errorf("input schema forbids unknown arguments: %s", s.Spec.InputSchema)
	}
	if !json.Valid(s.Spec.OutputSchema) {
		t.Errorf("output schema: got %s, want valid JSON", s.Spec.OutputSchema)
	}
}

func TestCallChecksArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		bad        bool
	}{
		{"all given", `{"path":"a","limit":10,"all":true}`, false},
		{"numbers written as fractions", `{"path":"a","limit":10.0}`, false},
		{"unknown arguments are ignored", `{"path":"a","colour":"red"}`, false},
		{"null for what is optional", `{"path":"a","limit":null}`, false},
		{"required one missing", `{}`, true},
		{"nothing at all", ``, true},
		{"white space", ` `, true},
		{"null", `null`, true},
		{"wrong type", `{"path":1}`, true},
		{"wrong type of an optional one", `{"path":"a","all":"yes"}`, true},
		{"a number that is none", `{"path":"a","limit":1e400}`, true},
		{"a number of very many digits", `{"path":"a","limit":` + strings.Repeat("9", 5000) + `}`, true},
		{"a list", `["a"]`, true},
		{"a string", `"a"`, true},
		{"cut off", `{"path":`, true},
		{"two values", `{"path":"a"} {"path":"b"}`, true},
		{"rubbish behind", `{"path":"a"}x`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := sample().Call(t.Context(), struct{}{}, json.RawMessage(c.args))
			var input *toolkit.InputError
			if errors.As(err, &input) != c.bad {
				t.Fatalf("result %s, error %v", raw, err)
			}
			if c.bad {
				if !strings.HasPrefix(err.Error(), "Invalid arguments: ") || errors.Unwrap(err) == nil || strings.Contains(err.Error(), "Go ") {
					t.Errorf(`got %v, want "Invalid arguments: " with a cause and without Go types`, err)
				}
				return
			}
			if string(raw) != `{"path":"a","html":"<&>"}` {
				t.Errorf("result = %s, want raw `{\"path\":\"a\",\"html\":\"<&>\"}`", raw)
			}
		})
	}
}

func TestCallKeepsTheToolsError(t *testing.T) {
	t.Parallel()
	raw, err := sample().Call(t.Context(), struct{}{}, json.RawMessage(`{"path":"full"}`))
	if !errors.Is(err, errFull) || err.Error() != errFull.Error() || raw != nil {
		t.Errorf("result %s, error %v", raw, err)
	}
}

func TestPreviewIsOptional(t *testing.T) {
	t.Parallel()
	if _, ok, err := sample().Preview(t.Context(), struct{}{}, json.RawMessage(`{"path":"a"}`)); ok || err != nil {
		t.Errorf("without a preview: ok %v, error %v; want false and no error", ok, err)
	}
	s := toolkit.WithPreview(sample(), func(_ context.Context, _ struct{}, v in) (protocol.CallPreview, error) {
		return protocol.CallPreview{Path: "/" + v.Path}, nil
	})
	p, ok, err := s.Preview(t.Context(), struct{}{}, json.RawMessage(`{"path":"a"}`))
	if !ok || err != nil || p.Path != "/a" {
		t.Errorf("got preview %+v, ok %v, error %v; want the path /a", p, ok, err)
	}
	var input *toolkit.InputError
	if _, ok, err := s.Preview(t.Context(), struct{}{}, json.RawMessage(`{}`)); !ok || !errors.As(err, &input) {
		t.Errorf("bad arguments: ok %v, error %v", ok, err)
	}
}

func TestValidateAcceptsWhatItCannotJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema, args string
		bad                bool
	}{
		{"fits", `{"type":"object","required":["a"]}`, `{"a":1}`, false},
		{"does not fit", `{"type":"object","required":["a"]}`, `{}`, true},
		{"no schema", ``, `{"a":1}`, false},
		{"broken schema", `{"type":`, `{"a":1}`, false},
		{"schema with an unknown type", `{"type":7}`, `{"a":1}`, false},
		{"schema that refers to itself", `{"$ref":"#"}`, `{"a":1}`, false},
		{"schema that refers to itself in disguise", `{"allOf":[{"\u0024ref":"#"}]}`, `{"a":1}`, false},
		{"schema with a dangling reference", `{"$ref":"#/$defs/x"}`, `{"a":1}`, false},
		{"not an object", `{"type":"object"}`, `[1]`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := toolkit.Validate(json.RawMessage(c.schema), json.RawMessage(c.args))
			if (err != nil) != c.bad {
				t.Errorf("got %v, want an error: %v", err, c.bad)
			}
		})
	}
}

func TestDefinePanicsOnTypesWithoutSchema(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	toolkit.Define("Bad", "", toolkit.Traits{}, func(context.Context, struct{}, struct{ C chan int }) (out, error) { return out{}, nil })
}

func FuzzCall(f *testing.F) {
	for _, s := range []string{`{"path":"a","limit":1e400}`, `{"path":"\ud800"}`, `{"deep":{"name":""},"path":""}`, `{}`, `null`, `{"a":{"a":{"a":`, `{"path":"a","path":2}`} {
		f.Add([]byte(s))
	}
	s := sample()
	f.Fuzz(func(t *testing.T, args []byte) {
		raw, err := s.Call(t.Context(), struct{}{}, args)
		if err == nil && !json.Valid(raw) {
			t.Errorf("result is not JSON: %q", raw)
		}
		var input *toolkit.InputError
		if err != nil && !errors.As(err, &input) && !errors.Is(err, errFull) {
			t.Errorf("error of an unknown kind: %v", err)
		}
	})
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"type":"object"}`), []byte(`{}`))
	f.Add([]byte(`{"properties":{"a":{"pattern":"("}}}`), []byte(`{"a":"b"}`))
	f.Add([]byte(`{"$ref":"#"}`), []byte(`{"a":"b"}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) { toolkit.Validate(schema, args) }) // must not panic
}
