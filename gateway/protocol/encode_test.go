package protocol

import (
	"bytes"
	"encoding/json"
	"testing"
)

// plainly encodes a value with encoding/json.
func plainly(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func FuzzCallsAreEncodedAsTheGeneralEncoderDoes(f *testing.F) {
	for _, raw := range []string{
		``, `null`, `{}`, `{"a":[1,2,{"b":"c\" d\\"}]}`, `{ "a" : 1 }`, `"a b"`, `{"a":"\n"}`, "{\"a\":\"\n\"}", `{`, `{"a":1}}`, "{\"a\":\"\u2028<&>\"}", "\"\xff\"", ` {}`, "{}\n", `-0.5e3`, `"\u0041"`,
	} {
		f.Add(raw, "id", "n__Bash", true)
	}
	f.Add(`{"x":1}`, "", "", false)
	f.Add(`{"x":1}`, "a\"b\\c<&>\x00\x7f", "é\u2028\xff", true)
	f.Fuzz(func(t *testing.T, raw, one, two string, yes bool) {
		args := json.RawMessage(raw)
		if raw == "" {
			args = nil
		}
		for _, v := range []appender{
			ToolInvokeParams{Tool: ToolName(one), Args: args},
			ToolInvokeResult{Result: args},
			ToolInvoke{
				CallID: CallID(one), Tool: two, Args: args, Preview: yes, Expect: two, Approved: one, Policy: two, Network: yes,
				IdempotencyKey: one, SessionKey: SessionKey(two), RunID: RunID(one),
			},
			ToolInvoke{CallID: CallID(one), Tool: two, Args: args, Folders: []FolderAccess{{Path: one}}},
			ToolResultParams{CallID: CallID(one), Result: args, Error: two},
			Ack{OK: yes, Dropped: raw == ""},
		} {
			want, wrong := plainly(v)
			got, ok := v.append(nil)
			if ok && (wrong != nil || !bytes.Equal(got, want)) {
				t.Fatalf("%T %+v: %s, want %s, %v", v, v, got, want, wrong)
			}
			if all, err := Marshal(v); (err != nil) != (wrong != nil) || !bytes.Equal(all, want) && wrong == nil {
				t.Fatalf("%T %+v: %s, %v, want %s, %v", v, v, all, err, want, wrong)
			}
		}
	})
}

func TestACallIsEncodedWithoutTheGeneralEncoder(t *testing.T) {
	args := json.RawMessage(`{"path":"a b.txt","lines":[1,2]}`)
	for _, v := range []appender{
		ToolInvokeParams{Tool: "n__Read", Args: args},
		ToolInvokeParams{Tool: "n__Read"},
		ToolInvokeResult{Result: args},
		ToolInvokeResult{},
		ToolInvoke{CallID: "c", Tool: "Read", Args: args, IdempotencyKey: "k1:X"},
		ToolResultParams{CallID: "c", Result: args},
		ToolResultParams{CallID: "c", Error: "x"},
		Ack{OK: true},
	} {
		if got, ok := v.append(nil); !ok || len(got) == 0 {
			t.Errorf("%T: %s, %v", v, got, ok)
		}
	}
}

func TestAToolInvokeIsReadAsTheGeneralDecoderDoes(t *testing.T) {
	for _, raw := range []string{
		`{"callId":"c","tool":"Read","args":{"path":"x"},"preview":true,"expect":"e","approved":"a","policy":"p","network":true,"idempotencyKey":"k","sessionKey":"s","runId":"r"}`,
		`{"CallID":"c","tool":"Read","args":{}}`, `{"callId":"\u0063","tool":"Read"}`, `{"callId":1}`, `{"folders":[{"path":"/x"}],"tool":"Bash"}`, `{"args":null,"new":1}`, `[]`, `{"preview":"yes"}`, ``, `null`, `"x"`,
	} {
		var got, want ToolInvoke
		err, wrong := Decode([]byte(raw), &got), json.Unmarshal([]byte(raw), &want)
		a, _ := plainly(got)
		b, _ := plainly(want)
		if (err == nil) != (wrong == nil) || err == nil && !bytes.Equal(a, b) {
			t.Errorf("%s: %s %v, want %s %v", raw, a, err, b, wrong)
		}
	}
}
