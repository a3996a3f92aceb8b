package protocol

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzJSONIsThatOfTheStandardLibrary decodes and encodes like encoding/json, whose results earlier
// versions send, store and hash.
func FuzzJSONIsThatOfTheStandardLibrary(f *testing.F) {
	for _, seed := range []string{
		`{"type":"req","id":"1","method":"a","params":{"x": [1, 2.50, "\u00e9\u2028<&>"]}}`,
		`{"callId":"c","RESULT":{"a":1},"error":"e","fault":{"code":"internal","retryable":true}}`,
		`{"callId":"c","callId":"d","result":null,"error":null}`,
		`{"callId":7,"result":1}`, `{"callId":"c","result":"\ud800 \xff"}`, `{"type":"req","seq":1e2}`, `[]`, `null`, `{"a":`, ``, ` {} x`,
		`{"role":"user","content":[{"type":"text","text":"a"}],"timestamp":12345678901234,"usage":{"input":1}}`,
		`{"role":"user","content":"a\u0000b\b\f\n","timestamp":-0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{Request{}, Response{}, ToolResultParams{}, ToolInvoke{}, Message{}, ConnectParams{}, map[string]any{}} {
			kind := reflect.TypeOf(v)
			got, want := reflect.New(kind), reflect.New(kind)
			wantErr := json.Unmarshal(raw, want.Interface())
			if wantErr != nil {
				continue // then the standard library has decoded it
			}
			if err := Unmarshal(raw, got.Interface()); err != nil || !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Fatalf("%s as %s: got %+v (%v), want %+v", raw, kind, got, err, want)
			}
			var buf bytes.Buffer
			enc := json.NewEncoder(&buf)
			enc.SetEscapeHTML(false)
			wantErr = enc.Encode(want.Interface())
			out, err := Marshal(got.Interface())
			if (err == nil) != (wantErr == nil) || err == nil && string(out)+"\n" != buf.String() {
				t.Fatalf("%s: encoded %s (%v), want %s (%v)", raw, out, err, buf.Bytes(), wantErr)
			}
		}
	})
}

func TestReadableHasNoEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b":"\u003ca\u003e \u0026 \u00e9","a":1e400,"n":9007199254740993}`: `{"b":"<a> & é","a":1e400,"n":9007199254740993}`,
		`{"b": "\u0022\u000a\u0001"}`:                                        `{"b":"\"\n\u0001"}`,
		`{"b": "\u003c`:                                                      `{"b": "\u003c`,
		`{ "b" : "plain" }`:                                                  `{ "b" : "plain" }`,
	} {
		if got := string(Readable(json.RawMessage(in))); got != want {
			t.Errorf("Readable(%s): got %s, want %s", in, got, want)
		}
	}
}
