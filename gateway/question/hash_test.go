package question

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestHashCoversWhatIsShown(t *testing.T) {
	base := question()
	base.Preview = &protocol.CallPreview{Folder: "/a", Path: "/p", Diff: "d", FileSHA256: "f"}
	first, err := hashOf(base)
	if err != nil {
		t.Fatal(err)
	}
	same := base
	same.Args = json.RawMessage(` { "command" : "ls" } `)
	if h, _ := hashOf(same); h != first {
		t.Error("white space changes the hash")
	}
	for name, edit := range map[string]func(*protocol.Question){
		"node":   func(a *protocol.Question) { a.Node = "m" },
		"tool":   func(a *protocol.Question) { a.Tool = "Write" },
		"args":   func(a *protocol.Question) { a.Args = json.RawMessage(`{"command":"rm"}`) },
		"folder": func(a *protocol.Question) { a.Preview.Folder = "/b" },
		"path":   func(a *protocol.Question) { a.Preview.Path = "/q" },
		"diff":   func(a *protocol.Question) { a.Preview.Diff = "e" },
		"file":   func(a *protocol.Question) { a.Preview.FileSHA256 = "g" },
	} {
		t.Run(name, func(t *testing.T) {
			c, p := base, *base.Preview
			c.Preview = &p
			edit(&c)
			if h, _ := hashOf(c); h == first {
				t.Errorf("another %s has the same hash", name)
			}
		})
	}
	bad := base
	bad.Args = json.RawMessage(`{`)
	if _, err := hashOf(bad); err == nil {
		t.Error("broken arguments have a hash")
	}
}
