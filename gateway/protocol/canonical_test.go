package protocol

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestOnlyCanonicalTextCountsAsSuch(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"a":1,"b":{"c":[1,2.50,-0,1e3,"x",true,null]}}`: true, `{"":{}}`: true, `{"a":[[],{},[{}]]}`: true,
		`[]`: false, `"x"`: false, `1`: false, `null`: false,
		`{"b":1,"a":2}`: false, `{"a":1,"a":2}`: false, `{ }`: false, `{"a": 1}`: false, `{"a" :1}`: false, `{"a":[1, 2]}`: false, `{"a":[1 ,2]}`: false, `{"a":1 }`: false, ` {}`: false, `{} `: false,
		`{"a":"\u0061"}`: false, `{"a":"ä"}`: false, `{"a":1}x`: false, `{"a":1`: false, ``: false, `{"a":"\n"}`: false,
		`{"a":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}`: false,
	} {
		if got := isCanonical([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// isCanonical must agree with the full conversion.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[true,null,"x"]}`, `{"b":0,"a":-0.10}`, `[1,{"x":""}]`, `"<&>"`, `1e400`, ` [ ] `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !isCanonical(raw) {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		want, err := Marshal(v)
		if err != nil || string(want) != string(raw) {
			t.Errorf("%s is not %s, %v", raw, want, err)
		}
	})
}
