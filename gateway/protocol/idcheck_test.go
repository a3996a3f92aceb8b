package protocol

import (
	"strings"
	"testing"
)

func TestIDsHaveNoZeroByte(t *testing.T) {
	type inner struct {
		Node NodeID `json:"node"`
	}
	type params struct {
		inner
		SessionID string            `json:"sessionId"`
		CommandID string            `json:"command_id,omitempty"`
		IDs       []string          `json:"ids"`
		Call      *CallID           `json:"call"`
		Target    *inner            `json:"target"`
		Nodes     []NodeID          `json:"nodes"`
		ByNode    map[NodeID]string `json:"byNode"`
		Text      string            `json:"text"`
		Raw       []byte            `json:"raw"`
	}
	for text, want := range map[string]string{
		`{"sessionId":"a\u0000b"}`:       "sessionId",
		`{"command_id":"\u0000"}`:        "command_id",
		`{"ids":["a","b\u0000"]}`:        "ids",
		`{"call":"a\u0000b"}`:            "call",
		`{"target":{"node":"a\u0000b"}}`: "node",
		`{"nodes":["a\u0000"]}`:          "nodes",
		`{"byNode":{"a\u0000":"x"}}`:     "byNode",
		`{"byNode":{"a":"x\u0000"}}`:     "",
		`{"text":"a\u0000b"}`:            "",
		`{"sessionId":"a\\u0000b"}`:      "",
		`{"sessionId":"a b"}`:            "",
	} {
		var p params
		if err := Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		err := CheckIDs([]byte(text), &p)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+" ")) {
			t.Errorf("%s: got %v, want an error about %q", text, err, want)
		}
	}
}
