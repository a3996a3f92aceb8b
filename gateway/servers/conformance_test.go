//go:build unix

package servers_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/servers"
	"fairlead/gateway/store"
)

// scenario is the variable in which MCP's conformance suite names what the client should do. With it,
// the test binary is a client of the server whose address is its last argument: the suite runs it as
//
//	conformance client --requirements 2026-07-28 --command "servers.test"
const scenario = "MCP_CONFORMANCE_SCENARIO"

// suiteLimit ends before the suite's own limit (packaging/conformance.sh), so that the client can say
// what it waits for.
const suiteLimit = 110 * time.Second

// beClient connects to a server as the gateway does, and uses all that it offers. The person is a
// program that allows every sign-in and answers every question with what the form suggests.
func beClient(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), suiteLimit)
	defer cancel()
	home, err := os.MkdirTemp("", "client-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	os.Setenv("FAIRLEAD_SECRETS", "file")
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &client)
	c := config.Default()
	c.MCP.Servers["suite"] = protocol.ServerSpec{URL: url, ClientID: client.ID, ClientSecret: client.Secret}
	questions := question.New(questiontest.NewStore(), nil, new(event.Bus))
	m, err := servers.Open(ctx, servers.Options{
		Questions: questions, Audit: noRows{},
		Config: fixedConfig{c}, Store: noRows{}, Secrets: keychain.Open(home), Machines: noMachines{}, Bus: new(event.Bus), Version: "test",
		ClientDocument: "https://conformance-test.local/client-metadata.json",
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(running, nil)
	}()
	go bePerson(running, m, questions)
	defer func() {
		stop()
		<-done
	}()
	if err := awaitReady(ctx, m); err != nil {
		return err
	}
	return useAll(ctx, m)
}

// awaitReady waits until the server is connected. It fails if that fails three times.
func awaitReady(ctx context.Context, m *servers.Manager) error {
	failures := 0
	for was := ""; ; time.Sleep(10 * time.Millisecond) {
		list, err := m.List(ctx)
		if err != nil {
			return err
		}
		s := list.Servers[0]
		switch {
		case s.State == protocol.ServerReady:
			return nil
		case s.State == protocol.ServerFailed && was != s.State:
			if failures++; failures == 3 {
				return errors.New(s.Error)
			}
			log.Print(s.Error)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		was = s.State
	}
}

// bePerson opens the addresses of sign-ins and answers questions until ctx ends.
func bePerson(ctx context.Context, m *servers.Manager, questions *question.Queue) {
	visited := ""
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		list, _ := m.List(ctx)
		if list.Servers[0].State == protocol.ServerSignIn {
			at, err := m.SignIn(ctx, protocol.ServerParams{Name: "suite"})
			if err == nil && at.URL != visited {
				visited = at.URL
				if r, err := http.Get(at.URL); err == nil { // the suite leads back at once
					r.Body.Close()
				}
			}
		}
		open, _ := questions.Pending(ctx)
		for _, q := range open {
			values := map[string]any{}
			for _, f := range q.Input.Fields {
				if v := cmp.Or(f.Default, map[string]any{"boolean": true, "text": "text", "integer": float64(1), "number": float64(1)}[f.Kind]); v != nil {
					values[f.Name] = v
				}
			}
			if _, err := questions.Answer(ctx, auth.Owner("suite"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Values: values}); err != nil {
				log.Print(err)
			}
		}
	}
}

// useAll calls the tools that the suite names, or each, and reads a resource and a prompt.
func useAll(ctx context.Context, m *servers.Manager) error {
	var wanted struct {
		Calls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &wanted); err != nil {
			return err
		}
	}
	tools := m.Toolbox().Tools()
	for _, t := range tools {
		_, bare, _ := protocol.ToolName(t.Name).Split()
		args := []json.RawMessage{json.RawMessage(`{}`)}
		switch {
		case len(wanted.Calls) > 0:
			args = nil
			for _, c := range wanted.Calls {
				if c.Name == bare {
					args = append(args, c.Arguments)
				}
			}
		case bare == "add_numbers":
			args[0] = json.RawMessage(`{"a": 5, "b": 3}`)
		case os.Getenv(scenario) == "http-invalid-tool-headers":
			args[0] = json.RawMessage(`{"region": "us-west1"}`)
		case bare == "json_schema_echo":
			i := slices.IndexFunc(tools, func(o protocol.ToolSpec) bool { return o.Name == "suite__json_schema_2020_12_tool" })
			args[0] = json.RawMessage(fmt.Sprintf(`{"schema": %s}`, tools[max(i, 0)].InputSchema))
		}
		for _, a := range args {
			inv := protocol.ToolInvoke{CallID: protocol.NewCallID(), Tool: bare, Args: a}
			if _, err := m.Toolbox().Call(ctx, "suite", inv, func(protocol.ToolProgress) {}); err != nil {
				log.Printf("%s: %v", bare, err)
			}
		}
	}
	items, err := m.Items(ctx)
	for _, i := range items.Items {
		p := protocol.ServerReadParams{Server: "suite", URI: i.URI}
		if i.Kind == "prompt" {
			p.Prompt = i.Name
		}
		if _, err := m.Read(ctx, p); err != nil {
			log.Printf("%s: %v", i.Name, err)
		}
	}
	return err
}

// fixedConfig, noRows and noMachines are what a manager needs besides a server at an address.
type fixedConfig struct{ config.Config }

func (c fixedConfig) Get() config.Config                               { return c.Config }
func (fixedConfig) Set(context.Context, string, json.RawMessage) error { return nil }
func (c fixedConfig) Server(name protocol.ServerName) (protocol.ServerSpec, bool) {
	spec, ok := c.MCP.Servers[string(name)]
	return spec, ok
}

type noRows struct{}

func (noRows) Append(context.Context, ...protocol.AuditEntry) error { return nil }

func (noRows) List(context.Context) (map[protocol.ServerName]store.AcceptedTools, error) {
	return make(map[protocol.ServerName]store.AcceptedTools), nil
}
func (noRows) Put(context.Context, protocol.ServerName, store.AcceptedTools) error { return nil }
func (noRows) Delete(context.Context, protocol.ServerName) error                   { return nil }

type noMachines struct{}

func (noMachines) Nodes() []protocol.NodeInfo { return nil }
func (noMachines) Call(context.Context, protocol.NodeID, protocol.ToolInvoke, func(protocol.ToolProgress)) (json.RawMessage, error) {
	return nil, protocol.ErrUnavailable
}
