package toolkit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
)

func TestValuesInQuotesAreConverted(t *testing.T) {
	t.Parallel()
	const (
		simple = `{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"s":{"type":"string"},"any":{}}}`
		forms  = `{"type":"object","properties":{
			"orNull":{"anyOf":[{"type":"integer"},{"type":"null"}]},"orText":{"anyOf":[{"type":"integer"},{"type":"string"}]},
			"types":{"type":["number","null"]},"typesText":{"type":["number","string"]},"enum":{"enum":[1,2]},"enumText":{"enum":["1","2"]},"const":{"const":true},
			"all":{"allOf":[{"type":["string","number"]},{"type":"number"}]}}}`
		deep = `{"type":"object","properties":{"o":{"type":"object","properties":{"n":{"type":"number"},"s":{"type":"string"}}},
			"list":{"type":"array","items":{"type":"integer"}},"pair":{"prefixItems":[{"type":"string"},{"type":"number"}]},
			"map":{"type":"object","additionalProperties":{"type":"boolean"}},"form":{"anyOf":[{"type":"object","properties":{"a":{"type":"number"}}},{"type":"object","properties":{"a":{"type":"string"}}}]},
			"items":{"type":"array","items":{"oneOf":[{"type":"object","properties":{"k":{"type":"integer"}}}]}}}}`
		refs = `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"},"o":{"$ref":"#/$defs/O"},"s":{"$ref":"#/$defs/S"},"x":{"$ref":"other.json"},"plain":{"type":"integer"}},
			"$defs":{"N":{"type":"number"},"S":{"anyOf":[{"type":"string"},{"type":"number"}]},"O":{"type":"object","properties":{"o":{"$ref":"#/$defs/O"},"b":{"type":"boolean"},"n":{"$ref":"#/$defs/N"}}}}}`
	)
	for _, c := range []struct{ name, schema, args, want string }{
		{"simple", simple, `{"n":"5000","i":"-3","b":"false","s":"5","any":"7"}`, `{"any":"7","b":false,"i":-3,"n":5000,"s":"5"}`},
		{"fractions", simple, `{"n":"1.5e2","i":"2.0"}`, `{"i":2.0,"n":1.5e2}`},
		{"exact", simple, `{"n":9007199254740993,"i":"9007199254740993"}`, `{"i":9007199254740993,"n":9007199254740993}`},
		{"unchanged", simple, `{ "s" : "true" }`, `{ "s" : "true" }`},
		{
			"forms", forms,
			`{"orNull":"5","orText":"5","types":"5","typesText":"5","enum":"1","enumText":"1","const":"true","all":"5"}`,
			`{"all":5,"const":true,"enum":1,"enumText":"1","orNull":5,"orText":"5","types":5,"typesText":"5"}`,
		},
		{
			"deep", deep,
			`{"o":{"n":"1","s":"1"},"list":["1",2,"3"],"pair":["1","1"],"map":{"x":"true"},"form":{"a":"1"},"items":[{"k":"1"}]}`,
			`{"form":{"a":"1"},"items":[{"k":1}],"list":[1,2,3],"map":{"x":true},"o":{"n":1,"s":"1"},"pair":["1",1]}`,
		},
		{
			"lists and objects", deep,
			`{"list":"[1,\"2\"]","o":"{\"n\":\"1\",\"s\":\"[1]\"}","items":["{\"k\":9007199254740993}"],"map":"{}"}`,
			`{"items":[{"k":9007199254740993}],"list":[1,2],"map":{},"o":{"n":1,"s":"[1]"}}`,
		},
		{"texts that look like lists", simple, `{"s":"[1]","any":"{}"}`, `{"s":"[1]","any":"{}"}`},
		{"references", refs, `{"n":"1","o":{"o":{"o":{"b":"true","n":"2"}}},"s":"1","x":"1","plain":"1"}`, `{"n":1,"o":{"o":{"o":{"b":true,"n":2}}},"plain":1,"s":"1","x":"1"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := toolkit.Arguments(json.RawMessage(c.schema), json.RawMessage(c.args))
			if err != nil || string(got) != c.want {
				t.Errorf("Arguments(%s): got %s, error %v; want %s", c.args, got, err, c.want)
			}
		})
	}
	for _, wrong := range []string{`"5 "`, `" 5"`, `"+5"`, `"0x10"`, `"1_000"`, `"five"`, `""`, `"NaN"`, `"1e999"`, `"05"`, `"true"`} {
		if got, err := toolkit.Arguments(json.RawMessage(simple), json.RawMessage(`{"n":`+wrong+`}`)); err == nil {
			t.Errorf("Arguments accepted %s as a number: %s", wrong, got)
		}
	}
	for _, wrong := range []string{`{"list":"[1"}`, `{"list":"{}"}`, `{"list":"1,2"}`, `{"o":"[]"}`, `{"o":"{\"n\":1,\"n\":2}"}`} {
		if got, err := toolkit.Arguments(json.RawMessage(deep), json.RawMessage(wrong)); err == nil {
			t.Errorf("Arguments accepted %s: %s", wrong, got)
		}
	}
	for _, wrong := range []string{`{"b":"True"}`, `{"b":"1"}`, `{"b":"yes"}`, `{"i":"1.5"}`, `{"n":"5","n":"6"}`, `{"n":"5"} x`} {
		if got, err := toolkit.Arguments(json.RawMessage(simple), json.RawMessage(wrong)); err == nil {
			t.Errorf("Arguments accepted %s: %s", wrong, got)
		}
	}
}

func TestInvalidArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","required":["path"],"additionalProperties":false,"properties":{
		"path":{"type":"string","minLength":1,"maxLength":9,"pattern":"^/"},"limit":{"type":"integer","minimum":1,"maximum":9},"mode":{"enum":["a","b"]},"on":{"type":"boolean"},
		"many":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"object","required":["old"],"properties":{"old":{"type":"string"}}}},
		"either":{"anyOf":[{"type":"string"},{"type":"object","required":["kind"],"properties":{"kind":{"const":"x"}}}]},"below":{"exclusiveMaximum":3,"exclusiveMinimum":1},
		"some":{"type":"object","minProperties":2}}}`)
	for _, c := range []struct{ args, want string }{
		{`{}`, `path is required (a text), but missing`},
		{`{"path":5}`, `path must be a text, not 5`},
		{`{"path":""}`, `path must not be empty`},
		{`{"path":"/0123456789"}`, `path may have at most 9 characters, not 11`},
		{`{"path":"x"}`, `path must be a text that matches ^/, not the text "x"`},
		{`{"path":"/","limit":"many"}`, `limit must be a whole number, not the text "many"`},
		{`{"path":"/","limit":1.5}`, `limit must be a whole number, not 1.5`},
		{`{"path":"/","limit":0}`, `limit must be at least 1, not 0`},
		{`{"path":"/","limit":10}`, `limit must be at most 9, not 10`},
		{`{"path":"/","below":3}`, `below must be less than 3, not 3`},
		{`{"path":"/","below":1}`, `below must be more than 1, not 1`},
		{`{"path":"/","mode":"<c>"}`, `mode must be "a" or "b", not the text "<c>"`},
		{`{"path":"/","on":1}`, `on must be true or false, not 1`},
		{`{"path":"/","many":[]}`, `many must have at least 1 entries, not 0`},
		{`{"path":"/","many":[{},{},{}]}`, `many may have at most 2 entries, not 3`},
		{`{"path":"/","many":[{"old":"x"},{"old":[]}]}`, `many[1].old must be a text, not a list`},
		{`{"path":"/","many":[{"old":"x"},{"old":"x"}]}`, `many: array items `},
		{`{"path":"/","either":5}`, `either must be a text or an object, not 5`},
		{`{"path":"/","either":{}}`, `either.kind is required ("x"), but missing`},
		{`{"path":"/","other":5}`, `there is no argument "other"; allowed are below, either, limit, many, mode, on, path, some`},
		{`{"path":"/","some":{"a":1}}`, `some: `},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			err := toolkit.Validate(schema, json.RawMessage(c.args))
			if err == nil || !strings.HasPrefix(err.Error(), "Invalid arguments: "+c.want) || strings.Contains(err.Error(), "validating") {
				t.Errorf("Validate: got %v, want %s", err, c.want)
			}
		})
	}
}
