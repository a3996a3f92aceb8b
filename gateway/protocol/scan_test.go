package protocol

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// general is a frame as the general decoder reads it.
type general struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Method  string          `json:"method"`
	Event   string          `json:"event"`
	Params  json.RawMessage `json:"params"`
	Payload json.RawMessage `json:"payload"`
	OK      bool            `json:"ok"`
	Error   *Error          `json:"error"`
	Seq     *uint64         `json:"seq"`
}

// FuzzScanAgreesWithTheGeneralDecoder: the general decoder reads the same values as the fast one.
func FuzzScanAgreesWithTheGeneralDecoder(f *testing.F) {
	for _, s := range []string{
		`{"type":"req","id":"1","method":"m","params":{"a":[1,{"b":"}\\""}],"c":"\\\\"}}`, ` { "type" : "res" , "id":"x", "ok" :true,"payload": null } `,
		`{"type":"evt","event":"chat","seq":3,"payload":"s"}`, `{"type":"res","id":"1","ok":false,"error":{"code":500,"message":"x"}}`,
		`{"Type":"req","id":"1"}`, `{"ty\u0070e":"req"}`, `{"type":"req","type":"evt","event":"e","id":null,"seq":null,"error":null}`, `{}`, `[]`, `"x"`, `{"a":{}}`,
		`{"type":"evt","event":"e","payload":-1.5e3,"seq":-1}`, `{"params":[[],[[]]],"ok":1}`, `{"params":"\\n\"\\\"\n\"\"\\","payload":"\n\n\\"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) || !json.Valid(data) {
			return
		}
		var fast anyFrame
		if !fast.scan(data) {
			return
		}
		var slow general
		if err := json.Unmarshal(data, &slow); err != nil {
			t.Fatalf("the general decoder refuses what was read: %v", err)
		}
		if !reflect.DeepEqual(general(fast), slow) {
			t.Fatalf("%s\nfast %+v\nslow %+v", data, fast, slow)
		}
	})
}

// A file of 16 MiB of newlines took hours, and one of 4 MiB with ordinary lines some seconds, when
// every escape caused a search through the rest of its string.
func TestAFrameFullOfEscapesIsReadInOnePass(t *testing.T) {
	frame := []byte(`{"type":"req","id":"1","method":"m","params":{"content":"` + strings.Repeat(`\n`, 8<<20) + `","q":"` + strings.Repeat(`\"`, 4<<20) + `"}}`)
	done := make(chan bool)
	go func() {
		var f anyFrame
		done <- f.scan(frame) && len(f.Params) == len(frame)-len(`{"type":"req","id":"1","method":"m","params":}`)
	}()
	select {
	case ok := <-done:
		if !ok {
			t.Error("it was not read as it is")
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("it is read again and again")
	}
}

func TestOrdinaryFramesTakeTheFastWay(t *testing.T) {
	for _, v := range []struct {
		frame []byte
		err   error
	}{
		pair(EncodeRequest("1", "tool.invoke", ToolInvokeParams{Tool: "a__b", Args: json.RawMessage(`{"x":"a\"b"}`)})),
		pair(EncodeResult("1", OK{true})), pair(EncodeEvent("chat", Empty{}, 7)), pair(EncodeError("1", ErrNotFound)), pair(EncodeRequest("1", "m", nil)),
	} {
		var f anyFrame
		if v.err != nil || !json.Valid(v.frame) || !f.scan(v.frame) {
			t.Errorf("%s %v", v.frame, v.err)
		}
	}
}

func pair(frame []byte, err error) struct {
	frame []byte
	err   error
} {
	return struct {
		frame []byte
		err   error
	}{frame, err}
}

func TestIdsOfAnySpellingComeThrough(t *testing.T) {
	for _, id := range []string{"1", "a\"b", `back\slash`, "Ü", "\x00", "</script>", "\u2028", strings.Repeat("x", 1000)} {
		frame, err := EncodeRequest(id, "m", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeFrame(frame)
		if err != nil || got.Request.ID != id {
			t.Errorf("%q became %+v, %v", id, got.Request, err)
		}
	}
}

func BenchmarkDecodeFrame(b *testing.B) {
	frame, err := EncodeRequest("1", "tool.invoke", ToolInvokeParams{Tool: "a__b", Args: json.RawMessage(`{"command":"ls -la","workdir":"src"}`)})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := DecodeFrame(frame); err != nil {
			b.Fatal(err)
		}
	}
}

// Values that Decode reads by itself equal those of the general decoder.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"tool":"n__Read","args":{"path":"x"}}`, `{"callId":"c","result":[1, 2],"error":""}`, `{"ok":true,"dropped":false}`, `{"Tool":"x","tool":null}`, `{"result":null}`,
		`{"ok":1}`, `{"tool":"\u0061","args":null}`, `[]`, `null`, `{"error":"a","error":null,"x":{"tool":1}}`, `{"callid":"a"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || !utf8.Valid(raw) {
			return
		}
		same := func(got, want any) {
			gotErr, wantErr := Decode(raw, got), json.Unmarshal(raw, want)
			if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v %v, want %+v %v", raw, got, gotErr, want, wantErr)
			}
		}
		same(new(ToolInvokeParams), new(ToolInvokeParams))
		same(new(ToolInvokeResult), new(ToolInvokeResult))
		same(new(ToolResultParams), new(ToolResultParams))
		same(new(Ack), new(Ack))
	})
}
