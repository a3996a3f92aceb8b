// Package channeltest provides a hub of channels with a real store and configuration, and chats
// with predictable answers.
package channeltest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Bench is a hub with its environment. It also implements the hub's sessions.
type Bench struct {
	*channel.Hub
	Store   *store.DB
	Bus     *event.Bus
	Config  *config.Store
	Secrets keychain.Store
	// Slow receives a token when a message that ends in "slowly" arrives, and another one before it
	// continues.
	Slow chan struct{}

	mu       sync.Mutex // guards the fields below
	sent     []Sent
	commands []string
	labels   map[protocol.SessionKey]string

	files  *workspace.Files
	cancel context.CancelFunc
	done   chan struct{}
}

// Sent is a message that reached the chats.
type Sent struct {
	By string
	protocol.ChatSendParams
}

// Open opens a hub over the store in dir. Nothing runs before Begin.
func Open(t testing.TB, dir string, drivers ...channel.Driver) *Bench {
	t.Helper()
	b := &Bench{
		Bus: new(event.Bus), Secrets: keychain.OpenFile(dir), Slow: make(chan struct{}), labels: map[protocol.SessionKey]string{},
		files: workspace.NewFiles(dir, workspace.FilesOptions{}),
	}
	var err error
	if b.Store, err = store.Open(context.Background(), filepath.Join(dir, "s.db")); err != nil {
		t.Fatal(err)
	}
	if b.Config, _, err = config.Open(context.Background(), b.Store.Settings, b.Secrets); err != nil {
		t.Fatal(err)
	}
	route := func(channel, _, kind, id string) (protocol.AgentID, protocol.SessionKey) {
		if kind == protocol.PeerDM {
			return protocol.MainAgent, protocol.MainSession
		}
		return protocol.MainAgent, protocol.SessionKey(strings.Join([]string{"agent:main", channel, kind, id}, ":"))
	}
	b.Hub = channel.New(channel.Options{
		Store: b.Store, Bus: b.Bus, Sessions: b, Route: route, Secrets: b.Secrets, Config: b.Config.Get, Set: b.Config.Set, Files: b.files, Drivers: drivers,
	})
	if err := b.Hub.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Begin runs the hub until Close.
func (b *Bench) Begin() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.done = cancel, make(chan struct{})
	go func() {
		defer close(b.done)
		b.Hub.Run(ctx)
	}()
}

// Close stops the hub and closes the store.
func (b *Bench) Close() {
	if b.cancel != nil {
		b.cancel()
		<-b.done
	}
	b.Store.Close()
}

// Set changes a setting.
func (b *Bench) Set(t testing.TB, path, value string) {
	t.Helper()
	if err := b.Config.Set(context.Background(), path, json.RawMessage(value)); err != nil {
		t.Fatal(err)
	}
}

// Sent returns the messages that reached the chats so far.
func (b *Bench) Sent() []Sent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Sent(nil), b.sent...)
}

// Label returns the label of a chat.
func (b *Bench) Label(key protocol.SessionKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.labels[key]
}

// File returns a stored file of the main agent.
func (b *Bench) File(t testing.TB, name string) string {
	t.Helper()
	f, _, err := b.files.Read(protocol.MainAgent, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(f.Data)
}
