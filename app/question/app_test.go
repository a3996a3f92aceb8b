package question

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestTheQuestionOfAnAppSaysWhoAsks(t *testing.T) {
	for _, c := range []struct {
		name string
		in   protocol.AppSubject
		want string
	}{
		{"published", protocol.AppSubject{ClientHost: "claude.example", RedirectHost: "claude.example"}, "This app is published by claude.example. It wants to use your machines. Your answer goes to claude.example."},
		{"published, local", protocol.AppSubject{ClientHost: "claude.example", RedirectHost: "127.0.0.1", IsLocal: true}, "A program where your browser runs claims to be published by claude.example. Nobody has checked that."},
		{"again", protocol.AppSubject{Name: "MCP CLI Proxy", Connected: true, IsLocal: true}, "“MCP CLI Proxy” (unverified name) on this computer wants to use your machines. That app is connected already: what you allow is added to its permissions."},
		{"unproven", protocol.AppSubject{Name: "MCP CLI Proxy", IsLocal: true}, "“MCP CLI Proxy” (unverified name) on this computer wants to use your machines."},
	} {
		if got := ConsentText(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
