//go:build unix

package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// foreign matches an IP address that may be that of another computer.
var foreign = regexp.MustCompile(`[0-9]\.[0-9]+\.[0-9]+\.[0-9]|::|[0-9a-fA-F]:[0-9a-fA-F]+:|//\[?[0-9]`)

// localConns keeps all connections of the gateway on this computer: no name is resolved, and there
// is no proxy.
func localConns(t testing.TB) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "")
	}
	was := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("nobody is asked for names in this test")
	}}
	t.Cleanup(func() { net.DefaultResolver = was })
}

// FuzzParams passes arbitrary parameters to every method: there is always a response, and never a
// panic.
func FuzzParams(f *testing.F) {
	methods := protocol.Methods
	index := func(name string) byte {
		return byte(slices.IndexFunc(methods, func(m protocol.MethodInfo) bool { return m.Name == name }))
	}
	for _, c := range samples {
		f.Add(index(c.method), []byte(c.params))
	}
	for i := range methods {
		for _, params := range []string{
			`null`, `[]`, `{"sessionKey":"","agentId":"../x","id":"","path":"..","limit":-1,"offset":-1,"nodeId":"\u0000"}`,
			`{"sessionKey":"agent:main:x","runId":"r","callId":"c","node":"n","tool":"n__Echo","args":null,"message":"/new","settings":{"maxTokens":1e9},"limit":9007199254740993,"before":-1}`,
			`{"id":"x","patch":{},"rule":{},"transferId":4294967295,"sources":[""],"destination":"","decision":"","name":"","channel":"","senderId":"","deviceId":"","query":"\"*","keepMessages":-1}`,
		} {
			f.Add(byte(i), []byte(params))
		}
	}
	for method, params := range map[string]string{
		protocol.ModelsTest.Name:   `{"provider":"ollama","model":"x"}`,
		protocol.ModelsList.Name:   `{"provider":"anthropic"}`,
		protocol.ModelsDetect.Name: `{}`,
		protocol.ChannelStart.Name: `{"channel":"xmpp","accountId":"a","config":{"jid":"a@b.test","password":"p","server":"localhost:1","rooms":["r@b.test"],"files":"*"}}`,
		protocol.ChannelLogin.Name: `{"channel":"xmpp","accountId":"a","force":true}`,
	} {
		f.Add(index(method), []byte(params))
	}
	localConns(f)
	l := startLive(f)
	f.Fuzz(func(t *testing.T, method byte, params []byte) {
		m := methods[int(method)%len(methods)]
		if !json.Valid(params) || !utf8.Valid(params) || foreign.Match(params) {
			// no frame can carry it, which FuzzDecodeFrame covers; or it could lead to another
			// computer
			return
		}
		peer := l.client
		switch {
		case slices.Contains(m.Modes, protocol.ModeClient):
		case slices.Contains(m.Modes, protocol.ModeNode):
			peer = l.node
		default:
			peer = l.chat
		}
		_, err := l.call(peer, m.Name, json.RawMessage(params))
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s %s: got no answer, want one", m.Name, params)
		}
		if err != nil && strings.Contains(err.Error(), "internal error in") {
			t.Fatalf("%s %s: got error %v, want no internal one", m.Name, params, err)
		}
	})
}
