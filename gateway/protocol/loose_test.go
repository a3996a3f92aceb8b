package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzLooseIDAgreesWithTheDecoder(f *testing.F) {
	for _, s := range []string{
		`{"type":"req","id":"a","method":"m","params":{"id":"b"}}`, `{"x":[1,{"id":"b"}],"id":"\u0061\n"}`, ` { "id" : "a" } `, `{"id":7}`, `{"a":"\"id\":\"x\""}`,
		`{"id"`, `{"id":"`, `{"id":"\`, `[`, `{"a":,"id":"b"}`, `{"a":]}`, "{\"\xff\":1,\"id\":\"a\"}", `{"a":1 "id":"b"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := looseID(data)
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || strings.Count(string(data), "id") != 1 || strings.Contains(string(data), `\u`) {
			return // not JSON, or possibly several IDs
		}
		var want string
		if json.Unmarshal(members["id"], &want) != nil {
			want = ""
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
