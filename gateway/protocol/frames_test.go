package protocol

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFramesSurviveTheWire(t *testing.T) {
	t.Parallel()
	req, err := EncodeRequest("7", "chat.send", ChatSendParams{SessionKey: "s", Message: "a < b && c > d"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(req), "a < b && c > d") {
		t.Errorf("the request is escaped for HTML: %s", req)
	}
	f, err := DecodeFrame(req)
	if err != nil || f.Request == nil || f.Request.ID != "7" || f.Request.Method != "chat.send" {
		t.Fatalf(`request = %+v, %v; want no error, Request.ID "7" and Request.Method "chat.send"`, f.Request, err)
	}
	var p ChatSendParams
	if err := json.Unmarshal(f.Request.Params, &p); err != nil || p.Message != "a < b && c > d" {
		t.Errorf(`params = %+v, %v; want no error and Message "a < b && c > d"`, p, err)
	}

	res, err := EncodeResult("7", OK{true})
	if err != nil {
		t.Fatal(err)
	}
	if string(res) != `{"type":"res","id":"7","ok":true,"payload":{"ok":true}}` {
		t.Errorf("result = %s, want res `{\"type\":\"res\",\"id\":\"7\",\"ok\":true,\"payload\":{\"ok\":true}}`", res)
	}
	failed, err := EncodeError("8", ErrConflict.With("busy").WithDetails(map[string]int{"queue": 2}))
	if err != nil {
		t.Fatal(err)
	}
	f, err = DecodeFrame(failed)
	if err != nil || f.Response == nil || f.Response.OK || !errors.Is(f.Response.Error, ErrConflict) || string(f.Response.Error.Details) != `{"queue":2}` {
		t.Errorf("error = %+v, %v; want no error, not Response.OK, error ErrConflict and Response.Error.Details `{\"queue\":2}`", f.Response, err)
	}

	for seq, want := range map[uint64]string{0: `{"type":"evt","event":"chat","payload":{"ok":true}}`, 5: `{"type":"evt","event":"chat","payload":{"ok":true},"seq":5}`} {
		evt, err := EncodeEvent("chat", OK{true}, seq)
		if err != nil || string(evt) != want {
			t.Errorf("event %d = %s, %v; want no error and evt %v", seq, evt, err, want)
		}
		if f, err := DecodeFrame(evt); err != nil || f.Event == nil || seq > 0 && (f.Event.Seq == nil || *f.Event.Seq != seq) {
			t.Errorf("event %d = %+v, %v; want no error and either seq at most 0 or Event.Seq %v", seq, f.Event, err, seq)
		}
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	f, err := DecodeFrame([]byte(`{"trace":{"a":[1]},"type":"req","id":"1","method":"m","params":{"tool":"x__y","later":true},"v":9}`))
	if err != nil || f.Request == nil {
		t.Fatalf("got %v; want no error and a Request", err)
	}
	var p ToolInvokeParams
	if err := json.Unmarshal(f.Request.Params, &p); err != nil || p.Tool != "x__y" {
		t.Errorf(`params = %+v, %v; want no error and Tool "x__y"`, p, err)
	}
}

func TestBrokenFramesSayWhyAndWhose(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[{"id":"inner","a":`, 10_000) + `"}]"` + strings.Repeat("}]", 10_000)
	for in, want := range map[string]struct{ id, reason string }{
		``:                        {"", "unexpected end"},
		`{`:                       {"", "unexpected end"},
		`[]`:                      {"", "the value must be an object, not array"},
		`null`:                    {"", `no "type"`},
		`{"id":"a"}`:              {"a", `no "type"`},
		`{"type":"ask","id":"a"}`: {"a", `unknown type "ask"`},
		`{"type":"req","id":"a"}`: {"a", "needs a method"},
		`{"type":"req","id":"1","call":"sys.connect","args":{}}`:                 {"1", "the protocol of GSV since March 2026"},
		`{"type":"req","id":"","method":"m"}`:                                    {"", "non-empty string id"},
		`{"type":"req","id":7,"method":"m"}`:                                     {"", "id must be a string, not number"},
		`{"type":"req","method":"m"}`:                                            {"", "non-empty string id"},
		`{"type":"req","id":"a","method":1}`:                                     {"a", "method must be a string"},
		`{"type":"res","ok":true}`:                                               {"", "non-empty string id"},
		`{"type":"res","id":"a","ok":"yes"}`:                                     {"a", "ok must be true or false, not string"},
		`{"type":"evt"}`:                                                         {"", "needs a name"},
		`{"type":"evt","event":"chat","seq":-1}`:                                 {"", "seq must be a whole number from 0 on"},
		"{\"type\":\"evt\",\"event\":\"\xff\"}":                                  {"", "UTF-8"},
		"{\"type\":\"req\",\"params\":\"\xff\",\"id\":\"a\"}":                    {"a", "UTF-8"},
		`{"type":"req","id":"a","method":"m","params":` + deep + `}`:             {"a", "nested too deep"},
		`{"method":"m","params":{"id":"no","x":` + deep + `} , "id" : "\u0061"}`: {"a", "nested too deep"},
		`{"params":` + deep + `,"type":"req"}`:                                   {"", "nested too deep"},
		`{"params":` + strings.Repeat(`{"id":"x","p":`, 20_000):                  {"", "nested too deep"},
	} {
		_, err := DecodeFrame([]byte(in))
		var bad *FrameError
		if !errors.As(err, &bad) || bad.ID != want.id || !strings.Contains(bad.Reason, want.reason) {
			t.Errorf("%s: %v (id %q), want …%s… of %q", in, err, bad.ID, want.reason, want.id)
		}
	}
}

func TestFieldsOfOtherFramesDoNotMatter(t *testing.T) {
	t.Parallel()
	f, err := DecodeFrame([]byte(`{"type":"req","id":"1","method":"m","ok":"maybe","seq":-1,"event":{},"payload":1}`))
	if err != nil || f.Request == nil || f.Request.Method != "m" {
		t.Errorf(`got %+v, %v; want no error and Request.Method "m"`, f, err)
	}
	if f, err := DecodeFrame([]byte(`{"type":"evt","event":"chat","id":7}`)); err != nil || f.Event == nil {
		t.Errorf("got %+v, %v; want no error and a Event", f, err)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	for _, s := range []string{
		`{"type":"req","id":"1","method":"m","params":{}}`, `{"type":"res","id":"1","ok":false,"error":{"code":500,"message":"x"}}`,
		`{"type":"evt","event":"chat","seq":3}`, `{"type":"req","id":{}}`, `[`, ``, "\xff", `{"type":"req","id":"a","id":2,"method":"m"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := DecodeFrame(data)
		if err != nil {
			var bad *FrameError
			if !errors.As(err, &bad) || bad.Reason == "" {
				t.Fatalf("error %v is not a FrameError with a reason", err)
			}
			return
		}
		var v any
		set := 0
		if frame.Request != nil {
			v, set = frame.Request, set+1
			if frame.Request.ID == "" || frame.Request.Method == "" {
				t.Fatal("a request without id or method got through")
			}
		}
		if frame.Response != nil {
			v, set = frame.Response, set+1
		}
		if frame.Event != nil {
			v, set = frame.Event, set+1
		}
		if set != 1 {
			t.Fatalf("%d fields are set, want 1", set)
		}
		again, err := Marshal(v)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		second, err := DecodeFrame(again)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v: %s", err, again)
		}
		if a, b := normal(t, frame), normal(t, second); !reflect.DeepEqual(a, b) {
			t.Fatalf("changed on the way: %v, then %v", a, b)
		}
	})
}

// normal returns a frame in a form that does not depend on the JSON spelling.
func normal(t *testing.T, f Frame) any {
	t.Helper()
	raw, err := Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestUnreadableRequestIsNotSent(t *testing.T) {
	t.Parallel()
	_, err := EncodeRequest("1", "tool.invoke", ToolInvokeParams{Tool: "n__Bash", Args: json.RawMessage("{\"command\":\"\xff\"}")})
	if !errors.Is(err, ErrBadRequest) {
		t.Errorf("got %v; want the error ErrBadRequest", err)
	}
}

func TestAResultIsSentAsItWasEncoded(t *testing.T) {
	for name, p := range map[string]ToolResultParams{
		"result":           {CallID: "c", Result: json.RawMessage(`{"a": "b}}"}`)},
		"error":            {CallID: "c", Error: "no"},
		"fault":            {CallID: "c", Error: "no", Fault: NewFault(FaultNotFound, "no")},
		"result and error": {CallID: "c", Result: json.RawMessage("[1]"), Error: "no"},
		"nothing":          {},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := EncodeRequest("7", ReturnResult.Name, p)
			if err != nil {
				t.Fatal(err)
			}
			frame, err := DecodeFrame(raw)
			if err != nil {
				t.Fatalf("%v: %s", err, raw)
			}
			var got ToolResultParams
			if err := Unmarshal(frame.Request.Params, &got); err != nil || !reflect.DeepEqual(got, p) {
				t.Errorf("got %+v, %v; want %+v", got, err, p)
			}
		})
	}
}

// TestALargeResultIsReadOnce compares the two ways to decode a frame with a large result.
func TestALargeResultIsReadOnce(t *testing.T) {
	text := `"` + strings.Repeat(`a\n`, 40000) + `"`
	for name, c := range map[string]struct {
		frame string
		once  bool
	}{
		"result":            {`{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","result":` + text + `}}`, true},
		"object":            {`{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","result":{"a":[` + text + `]}}}`, true},
		"error before":      {`{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","error":",\"result\":","result":` + text + `}}`, true},
		"error after":       {`{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","result":` + text + `,"error":"no"}}`, false},
		"two results":       {`{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","result":1,"result":` + text + `}}`, false},
		"id after":          {`{"type":"req","method":"tool.result","params":{"callId":"c","result":` + text + `},"id":"7"}`, false},
		"another method":    {`{"type":"req","id":"7","method":"tool.invoke","params":{"callId":"c","result":` + text + `}}`, false},
		"result of a fault": {`{"type":"req","id":"7","method":"tool.result","params":{"fault":{"details":{"a":1,"result":` + text + `}}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var want struct{ Params ToolResultParams }
			if err := json.Unmarshal([]byte(c.frame), &want); err != nil {
				t.Fatal(err)
			}
			frame, err := DecodeFrame([]byte(c.frame))
			if err != nil || frame.Request == nil || frame.Request.ID != "7" || (frame.Request.Result != nil) != c.once {
				t.Fatalf(`got %+v, %v; want no error, Request.ID "7" and a Result: %v`, frame.Request, err, c.once)
			}
			got := frame.Request.Result
			if got == nil {
				got = new(ToolResultParams)
				if err := Unmarshal(frame.Request.Params, got); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want.Params, *got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
	for _, broken := range []string{text[:len(text)-1], text + ` 1`, `[` + text + `}`, ``} {
		frame := `{"type":"req","id":"7","method":"tool.result","params":{"callId":"c","result":` + broken + strings.Repeat(" ", 70000) + `}}`
		if _, err := DecodeFrame([]byte(frame)); err == nil {
			t.Errorf("%.100s… is accepted", frame)
		}
	}
}
