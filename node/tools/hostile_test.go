package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
)

// schema is what of a tool's schema says where values may stand.
type schema struct {
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Required   []string           `json:"required"`
}

func (s *schema) takes(kind string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == kind
	case []any:
		return slices.Contains(t, any(kind))
	}
	return true
}

// argument is where one value stands in the arguments of a tool.
type argument struct {
	path     string
	at       *schema
	required bool
	with     func(raw string) string // the arguments with that value there
}

// argumentsOf are all fields of a tool, nested ones too.
func argumentsOf(t *testing.T, s *schema, base map[string]string, around func(string) string) (list []argument) {
	t.Helper()
	for name, p := range s.Properties {
		with := func(raw string) string {
			fields := []string{`"` + name + `":` + raw}
			for other, value := range base {
				if other != name {
					fields = append(fields, `"`+other+`":`+value)
				}
			}
			return around("{" + strings.Join(fields, ",") + "}")
		}
		list = append(list, argument{name, p, slices.Contains(s.Required, name), with})
		if p.Items != nil && p.Items.Properties != nil {
			inner := map[string]string{}
			for _, r := range p.Items.Required {
				inner[r] = `"x"`
			}
			for _, in := range argumentsOf(t, p.Items, inner, func(raw string) string { return with("[" + raw + "]") }) {
				in.path = name + "[]." + in.path
				list = append(list, in)
			}
		}
	}
	slices.SortFunc(list, func(a, b argument) int { return strings.Compare(a.path, b.path) })
	return list
}

// kindOf is what a schema calls a JSON value; empty for what is no JSON.
func kindOf(raw string) string {
	if !json.Valid([]byte(raw)) {
		return ""
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

var deep = strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)

var hostileValues = []string{
	`null`, `true`, `0`, `-0`, `-1`, `0.5`, `-1.5`, `1e308`, `-1e308`, `1e999`, `-1e999`, `1e-999`, `9007199254740993`, `18446744073709551616`,
	`""`, `"x"`, `"1"`, `"NaN"`, `"Infinity"`, `"\ud800"`, `"\udfff\ud800"`, `"a\u0000b"`, `"\u202e\u001b[2J"`, "\"\xff\xfe\"", `"../../x"`, `"{a,{b,{c"`, `"[z-a]("`,
	`[]`, `[null]`, `[[]]`, `["x",1]`, `{}`, `{"a":null}`, `{"a":1,"a":2}`, `[{"x":{}},{"x":{}}]`,
	`NaN`, `Infinity`, `-`, `01`, `+1`, `.5`, `"open`, `'x'`, `tru`, ``, `1,2`, `{"a"`, `[1,`,
	deep, strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat(`}`, 20_000), deep[:9000] + deep[len(deep)-9000:],
	`[` + strings.Repeat("0,", 300_000) + `0]`, strings.Repeat("9", 400_000), `"` + strings.Repeat(`\u0001`, 1<<17) + `"`,
}

// huge is as much as a frame carries. It is made when it is needed: benchmarks of this package
// measure its memory.
var huge = sync.OnceValue(func() string { return `"` + strings.Repeat("a", 30<<20) + `"` })

// wordsMost is how long an error may be, in bytes: it goes to a model.
const wordsMost = 4 << 10

// numbers are the arguments that are numbers of 0 or more in any call; a count is whole.
var numbers = map[string]string{
	"Bash timeout": "length", "Bash yieldMs": "length", "Read offset": "count", "Read limit": "count", "Grep context": "count", "Grep before": "count", "Grep after": "count",
}

// TestEveryFieldTakesHostileJSON gives each argument of each tool every hostile value. What is no
// JSON, or of another type, is refused in words that a model can read; nothing panics, nothing
// hangs, nothing outside is touched, and what was done could be previewed.
func TestEveryFieldTakesHostileJSON(t *testing.T) {
	b := newBench(t)
	canary := filepath.Join(filepath.Dir(b.WS.Dir()), "x")
	base := map[string]map[string]string{
		"Bash": {"command": `"true"`}, "Process": {"action": `"list"`}, "Read": {"path": `"f"`}, "Write": {"path": `"w"`, "content": `"x"`},
		"Edit": {"path": `"f"`, "oldString": `"some"`, "newString": `"some"`}, "Glob": {"pattern": `"*"`}, "Grep": {"pattern": `"some"`},
	}
	for name, tl := range b.Tools {
		t.Run(name, func(t *testing.T) {
			var s schema
			if err := json.Unmarshal(tl.Spec.InputSchema, &s); err != nil {
				t.Fatal(err)
			}
			all := argumentsOf(t, &s, base[name], func(raw string) string { return raw })
			if len(all) < len(base[name]) {
				t.Fatalf("got %d fields, want at least %d", len(all), len(base[name]))
			}
			try := func(what, raw string) error {
				b.File("f", "some\ntext\n")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, _, perr := tl.Preview(ctx, access.Call{}, json.RawMessage(raw))
				out, err := tl.Call(ctx, access.Call{}, json.RawMessage(raw))
				if ctx.Err() != nil {
					t.Fatalf("%s: got no end of the call, want one in time", what)
				}
				for _, e := range []error{perr, err} {
					if e != nil && (e.Error() == "" || len(e.Error()) > wordsMost || !utf8.ValidString(e.Error())) {
						t.Errorf("%s: got an error of %d bytes, want a short one: %.200q", what, len(e.Error()), e)
					}
				}
				if err == nil && (!json.Valid(out) || perr != nil) {
					t.Errorf("%s: got %.200s from a call with the preview error %v, want JSON and a preview", what, out, perr)
				}
				var bad *toolkit.InputError
				if errors.As(perr, &bad) && !errors.As(err, &bad) {
					t.Errorf("%s: got error %v from the call, want the preview's %v", what, err, perr)
				}
				return err
			}
			for i, p := range all {
				for _, raw := range append(slices.Clone(hostileValues), huge()) {
					if len(raw) > 10_000 && i%6 != 1 {
						continue // they take long, and every argument is read by the same decoder
					}
					what := name + " " + p.path + " = " + raw[:min(len(raw), 40)]
					err := try(what, p.with(raw))
					kind := kindOf(raw)
					if raw == `"1"` && (p.at.takes("number") || p.at.takes("integer")) {
						kind = "number" // small models write numbers in quotes
					}
					wrong := kind == "" || kind == "null" && p.required || kind != "null" && !p.at.takes(kind) && (kind != "number" || !p.at.takes("integer"))
					if wrong && err == nil {
						t.Errorf("%s: got no error, want one", what)
					}
					if n := numbers[name+" "+p.path]; n != "" && err == nil && (raw[0] == '-' && raw != `-0` || n == "count" && strings.Contains(raw, ".5")) {
						t.Errorf("%s: got no error, want one", what)
					}
				}
				twice := strings.TrimSuffix(p.with(`"x"`), "}")
				if !strings.Contains(p.path, ".") && try(name+" "+p.path+" twice", twice+`,"`+p.path+`":"x"}`) == nil {
					t.Errorf("%s: got no error for %s twice, want one", name, p.path)
				}
				if !strings.Contains(p.path, ".") && try(name+" "+p.path+" in capitals", twice+`,"`+strings.ToUpper(p.path)+`":"x"}`) == nil {
					t.Errorf("%s: got no error for %s in capitals too, want one", name, p.path)
				}
			}
			whole := argumentsOf(t, &schema{Properties: map[string]*schema{"unknown": {}}}, base[name], func(raw string) string { return raw })[0]
			for _, raw := range append(slices.Clone(hostileValues), huge()) {
				err := try(name+" of an unknown field = "+raw[:min(len(raw), 40)], whole.with(raw))
				if kindOf(raw) == "" && err == nil {
					t.Errorf("%s: got no error for what is not JSON, want one", name)
				}
				_ = try(name+" of "+raw[:min(len(raw), 40)], raw)
			}
		})
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("something was written outside")
	}
}
