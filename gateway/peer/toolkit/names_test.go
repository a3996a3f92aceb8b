package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
)

type nested struct {
	Path  string `json:"path"`
	Limit int    `json:"limit,omitempty"`
	Steps []struct {
		Old string `json:"old"`
		All bool   `json:"all,omitempty"`
	} `json:"steps,omitempty"`
}

// Two programs could read such arguments differently: the rules would allow one call, and the
// machine would run another.
func TestArgumentsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	t.Parallel()
	echo := toolkit.Define("Echo", "", toolkit.Traits{}, func(_ context.Context, _ struct{}, in nested) (nested, error) { return in, nil })
	for _, c := range []struct{ args, want string }{
		{`{"path":"a","Path":"b"}`, `there is no argument "Path"; it is called "path"`},
		{`{"Path":"b","path":"a"}`, `it is called "path"`},
		{`{"path":"a","LIMIT":"x"}`, `it is called "limit"`},
		{`{"path":"a","\u017fteps":[]}`, `it is called "steps"`}, // U+017F, the long s
		{`{"path":"a","steps":[{"old":"x","Old":"y"}]}`, `it is called "old"`},
		{`{"path":"a","path":"b"}`, `"path" is there twice`},
		{`{"path":"a","pa\u0074h":"b"}`, `"path" is there twice`},
		{`{"path":"\\\"","other":[[{"x":1, "x" :2}]]}`, `"x" is there twice`},
		{` { "path" : "a" , "other" : { } , "other" : 1 } `, `"other" is there twice`},
		{`{"path":"a","path":"a","path":"a"}`, `"path" is there twice`},
		{`{"path":null}`, `Invalid arguments: "path" must be given; it is null`},
		{`{"path":"a","steps":[{"old":null}]}`, `"old" must be given; it is null`},
	} {
		t.Run(c.args, func(t *testing.T) {
			var bad *toolkit.InputError
			_, err := echo.Call(t.Context(), struct{}{}, json.RawMessage(c.args))
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.args, err, c.want)
			}
			if err := toolkit.Validate(echo.Spec.InputSchema, json.RawMessage(c.args)); err == nil {
				t.Errorf("the gateway takes %s", c.args)
			}
		})
	}
	for _, args := range []string{
		`{"path":"a","other":{"X":1,"x":2},"more":[{"y":1},{"y":1}],"s":"\"path\":1,\"path\":1"}`, `{"path":"a","steps":[{"old":"x","all":null}],"limit":null}`,
		`{"path":"path","other":"path"}`,
	} {
		if _, err := echo.Call(t.Context(), struct{}{}, json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	if err := toolkit.Validate(json.RawMessage(`{"type":"object","properties":{"a":null}}`), json.RawMessage(`{"a":{"b":1}}`)); err != nil {
		t.Errorf("with a schema that says nothing about an argument: %v", err)
	}
	for args, ok := range map[string]bool{`{"command":"a","Command":"b"}`: false, `{"a":1,"a":2}`: false, `{"a":1,"b":{"c":1,"C":2}}`: true, `[1]`: true, ``: true, `{`: true} {
		if err := toolkit.Validate(json.RawMessage(`{"$ref":"#"}`), json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("without a schema that says anything, %s: %v", args, err)
		}
	}
}

// FuzzNames: accepted arguments read the same with and without regard to case, and whether the
// first or the last of equal names counts.
func FuzzNames(f *testing.F) {
	echo := toolkit.Define("Echo", "", toolkit.Traits{}, func(_ context.Context, _ struct{}, in nested) (nested, error) { return in, nil })
	f.Add(`{"path":"a","Path":"b"}`)
	f.Add(`{"path":"\\","steps":[{"old":"x\"","all":null}],"x":{"y":[{}]}}`)
	f.Fuzz(func(t *testing.T, args string) {
		raw, err := echo.Call(t.Context(), struct{}{}, json.RawMessage(args))
		if err != nil {
			return
		}
		var loose, got nested
		var exact map[string]any
		if json.Unmarshal([]byte(args), &loose) != nil || json.Unmarshal([]byte(args), &exact) != nil || json.Unmarshal(raw, &got) != nil {
			return
		}
		if path, _ := exact["path"].(string); path != got.Path || !reflect.DeepEqual(loose, got) {
			t.Errorf("%s is %v, %v and %v; want the same", args, exact, loose, got)
		}
	})
}
