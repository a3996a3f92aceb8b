package toolkit

import (
	"encoding/json"
	"testing"
)

const flatSchema = `{"type":"object","title":"t","properties":{"path":{"type":"string","description":"d"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"}},
"required":["path"],"additionalProperties":false}`

func TestSimpleArgumentsAreCheckedWithoutMemory(t *testing.T) {
	schema, args := json.RawMessage(flatSchema), json.RawMessage(` {"path" : "a\n", "i":-12,"n":0.5,"b":true}`)
	if n := testing.AllocsPerRun(100, func() {
		if err := Validate(schema, args); err != nil {
			t.Fatal(err)
		}
	}); n > 4 { // allocations for the names
		t.Errorf("%v allocations", n)
	}
}

func TestOnlyArgumentsThatFitAreTakenTheShortWay(t *testing.T) {
	for args, want := range map[string]bool{
		`{"path":"a"}`:              true,
		`{"path":""}`:               true,
		`{"path":"a","i":1.0}`:      false, // valid, which only the general validation decides
		`{"path":"a","i":1.5}`:      false,
		`{"path":"a","i":1e2}`:      false,
		`{"path":"a","i":null}`:     false,
		`{"path":"a","n":1e400}`:    false,
		`{"path":"a","n":-3.25}`:    true,
		`{"path":"a","n":"1"}`:      false,
		`{"path":"a","b":1}`:        false,
		`{"path":"a","b":null}`:     false,
		`{"path":"a","path":"b"}`:   false,
		`{"path":"a","Path":"b"}`:   false,
		`{"p\u0061th":"a"}`:         false,
		`{"path":"a","more":1}`:     false,
		`{"path":["a"]}`:            false,
		`{"path":null}`:             false,
		`{"i":1}`:                   false,
		`{}`:                        false,
		``:                          false,
		`null`:                      false,
		`["path"]`:                  false,
		`{"path":"a"}x`:             false,
		`{"path":"a"`:               false,
		`{"path":"a","n":--1}`:      false,
		`{"path":"a","b":truetrue}`: false,
	} {
		if got := flatten(json.RawMessage(flatSchema)).fits(json.RawMessage(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

func TestASchemaThatSaysMoreIsCheckedTheGeneralWay(t *testing.T) {
	for _, schema := range []string{
		``, `true`, `{}`, `{"type":"object"}`, `{"type":"array","properties":{}}`, `{"properties":{}}`, `{"type":["object"],"properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		`{"type":"object","properties":{"a":{"type":"array"}}}`,
		`{"type":"object","properties":{"a":{"enum":["x"]}}}`,
		`{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{"a":true}}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"minProperties":1}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"not":{}}`,
	} {
		if flatten(json.RawMessage(schema)) != nil {
			t.Errorf("%s is taken for one that says nothing more", schema)
		}
	}
}

// FuzzFlat: the general validation accepts everything that the fast one accepts.
func FuzzFlat(f *testing.F) {
	for _, args := range []string{`{"path":"a","i":1,"n":2.5,"b":false}`, `{"path":"\ud800","n":-0}`, `{"path":"a","n":00}`, ` { } `} {
		f.Add(args)
	}
	resolved, short := prepare(json.RawMessage(flatSchema)), flatten(json.RawMessage(flatSchema))
	f.Fuzz(func(t *testing.T, args string) {
		if !short.fits(json.RawMessage(args)) {
			return
		}
		if _, err := validated(resolved, json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	})
}
