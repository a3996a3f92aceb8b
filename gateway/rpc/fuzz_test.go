//go:build unix

package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// elsewhere are methods that may talk to other computers, whatever they are given.
var elsewhere = []string{protocol.ModelsTest.Name, protocol.ModelsDetect.Name, protocol.ModelsList.Name, protocol.ChannelStart.Name, protocol.ChannelLogin.Name}

// FuzzParams gives every method anything: there is always an answer, and never a panic behind it.
func FuzzParams(f *testing.F) {
	var methods []protocol.MethodInfo
	for _, m := range protocol.Methods {
		if !slices.Contains(elsewhere, m.Name) {
			methods = append(methods, m)
		}
	}
	index := func(name string) byte {
		return byte(slices.IndexFunc(methods, func(m protocol.MethodInfo) bool { return m.Name == name }))
	}
	for _, c := range samples {
		if !slices.Contains(elsewhere, c.method) {
			f.Add(index(c.method), []byte(c.params))
		}
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
	l := startLive(f)
	f.Fuzz(func(t *testing.T, method byte, params []byte) {
		m := methods[int(method)%len(methods)]
		if !json.Valid(params) {
			return // no frame can carry it; FuzzDecodeFrame has those
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
			t.Fatalf("%s %s was not answered", m.Name, params)
		}
		if err != nil && strings.Contains(err.Error(), "internal error in") {
			t.Fatalf("%s %s: %v", m.Name, params, err)
		}
	})
}
