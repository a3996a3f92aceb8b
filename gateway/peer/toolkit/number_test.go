package toolkit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
)

type counts struct {
	N     int64   `json:"n"`
	U     uint8   `json:"u,omitempty"`
	List  []int   `json:"list,omitempty"`
	Text  string  `json:"text,omitempty"`
	Float float64 `json:"float,omitempty"`
}

func TestWholeNumbersMayBeWrittenWithFractionsAndExponents(t *testing.T) {
	t.Parallel()
	echo := toolkit.Define("Echo", "", toolkit.Traits{}, func(_ context.Context, _ struct{}, in counts) (counts, error) { return in, nil })
	for _, c := range []struct{ args, want string }{
		{`{"n":1e7}`, `{"n":10000000}`},
		{`{"n":1E+2}`, `{"n":100}`},
		{`{"n":1.0}`, `{"n":1}`},
		{`{"n":-2.50e1}`, `{"n":-25}`},
		{`{"n":1200e-2}`, `{"n":12}`},
		{`{"n":0.0}`, `{"n":0}`},
		{`{"n":-0.0}`, `{"n":0}`},
		{`{"n":0e15}`, `{"n":0}`},
		{`{"n":9007199254740993.0}`, `{"n":9007199254740993}`},
		{`{"n":9.223372036854775807e18}`, `{"n":9223372036854775807}`},
		{`{"n":1e0,"u":2.55e2,"list":[1.0,2e1],"text":"1.0 <1e7>","float":1.5}`, `{"n":1,"u":255,"list":[1,20],"text":"1.0 <1e7>","float":1.5}`},
		{`{"n":1.5}`, ""},
		{`{"n":1e-1}`, ""},
		{`{"n":15e-1}`, ""},
		{`{"n":1e19}`, ""},
		{`{"n":1e999999999}`, ""},
		{`{"n":1e-999999999}`, ""},
		{`{"n":1,"u":256.0}`, ""},
		{`{"n":"1.0"}`, `{"n":1}`},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := echo.Call(t.Context(), struct{}{}, json.RawMessage(c.args))
			if (err == nil) != (c.want != "") || strings.TrimSpace(string(got)) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
			if err := toolkit.Validate(echo.Spec.InputSchema, json.RawMessage(c.args)); err != nil && c.want != "" {
				t.Errorf("got %v from Validate, want no error", err)
			}
		})
	}
}
