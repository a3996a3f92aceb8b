package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestEveryKindOfFieldIsReadAndChecked(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(`{"type": "object", "required": ["mail"], "properties": {
		"text": {"type": "string", "minLength": 2, "maxLength": 4}, "mail": {"type": "string", "format": "email", "title": "Mail"},
		"at": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"}, "link": {"type": "string", "format": "uri"},
		"n": {"type": "number", "maximum": 2.5}, "i": {"type": "integer", "default": 3}, "b": {"type": "boolean"},
		"old": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, "one": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
		"many": {"type": "array", "maxItems": 1, "items": {"anyOf": [{"const": "p"}, {"const": "q"}]}}
	}}`), &schema); err != nil {
		t.Fatal(err)
	}
	fields, err := Fields(schema)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		got = append(got, fmt.Sprintf("%s:%s:%d", f.Name, f.Kind, len(f.Choices)))
	}
	want := "mail:email:0 at:dateTime:0 b:boolean:0 day:date:0 i:integer:0 link:uri:0 many:choices:2 n:number:0 old:choice:2 one:choice:1 text:text:0"
	if strings.Join(got, " ") != want || fields[8].Choices[1].Title != "B" || fields[4].Default != float64(3) {
		t.Errorf("got fields %s, want %s", got, want)
	}
	good := map[string]any{
		"mail": "a@b.example", "at": "2026-11-30T09:00:00Z", "day": "2026-11-30", "link": "https://x.example", "n": 2.5, "i": 4.0, "b": false,
		"old": "b", "one": "x", "many": []any{"q"}, "text": "üüü",
	}
	if err := Check(fields, good); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]any{
		"mail": "nobody", "at": "soon", "day": "2026-13-01", "link": "x", "n": 2.6, "i": 1.5, "b": "yes", "old": "A", "one": 1.0, "many": []any{"p", "q"}, "text": "a", "more": 1.0,
	} {
		bad := map[string]any{"mail": "a@b.example"}
		bad[name] = value
		if Check(fields, bad) == nil {
			t.Errorf("%s: got no error of %v, want one", name, value)
		}
	}
	if Check(fields, nil) == nil {
		t.Error("a required value may be missing")
	}
	for _, schema := range []any{
		map[string]any{"properties": map[string]any{"x": map[string]any{"type": "object"}}}, map[string]any{"properties": map[string]any{"x": map[string]any{"type": "array"}}}, "text",
	} {
		if fields, err := Fields(schema); err == nil {
			t.Errorf("%v: got %+v, want an error", schema, fields)
		}
	}
}
