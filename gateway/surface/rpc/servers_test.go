package rpc

import (
	"context"
	"encoding/json"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/servers"
	"fairlead/gateway/store"
)

// serverRows is a store without servers.
type serverRows struct{}

func (serverRows) List(context.Context) (map[protocol.ServerName]store.AcceptedTools, error) {
	return map[protocol.ServerName]store.AcceptedTools{}, nil
}
func (serverRows) Put(context.Context, protocol.ServerName, store.AcceptedTools) error { return nil }
func (serverRows) Delete(context.Context, protocol.ServerName) error                   { return nil }

// serverConfig is a configuration with one server, which is turned off.
type serverConfig struct{}

var notes = protocol.ServerSpec{Command: "npx", Args: []string{"notes"}, Disabled: true}

func (serverConfig) Get() config.Config {
	c := config.Default()
	c.MCP.Servers["notes"] = notes
	return c
}
func (serverConfig) Set(context.Context, string, json.RawMessage) error { return nil }
func (serverConfig) Server(name protocol.ServerName) (protocol.ServerSpec, bool) {
	return notes, name == "notes"
}

func fakeServers(f *fakes) *servers.Manager {
	m, err := servers.Open(context.Background(), servers.Options{Config: serverConfig{}, Store: serverRows{}, Machines: f.hub, Bus: f.bus, Questions: question.New(questiontest.NewStore(), nil, f.bus)})
	if err != nil {
		panic(err)
	}
	return m
}
