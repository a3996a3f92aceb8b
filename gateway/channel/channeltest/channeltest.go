// Package channeltest provides a hub of channels with a real store and configuration, and chats
// with predictable answers.
package channeltest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Bench is a hub with its environment. It also implements what the hub needs of chats.
type Bench struct {
	*channel.Hub
	Store   *store.DB
	Bus     *event.Bus
	Config  *config.Store
	Secrets keychain.Store
	// Questions are those about strangers.
	Questions *question.Queue
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
		files: workspace.NewFiles(dir, nil),
	}
	var err error
	if b.Store, err = store.Open(context.Background(), filepath.Join(dir, "s.db")); err != nil {
		t.Fatal(err)
	}
	if b.Config, _, err = config.Open(context.Background(), b.Store.Settings, b.Secrets); err != nil {
		t.Fatal(err)
	}
	b.Questions = question.New(b.Store.Questions, nil, b.Bus)
	b.Hub = channel.New(channel.Options{
		Stores: channel.Stores{Channels: b.Store.Channels, Outbox: b.Store.Outbox, Runs: b.Store.Runs, Messages: b.Store.Messages},
		Bus:    b.Bus, Messages: b, Chats: chats{b}, Secrets: b.Secrets, Config: b.Config.Get, Set: b.Config.Set, Files: b.files, Drivers: drivers, Questions: b.Questions,
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
	b.Questions.Close()
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

// chats are the chats that the hub writes to.
type chats struct{ bench *Bench }

// Route implements channel.Chats.
func (chats) Route(channel, _, kind, id string) (protocol.AgentID, protocol.SessionKey) {
	if kind == protocol.PeerDM {
		return protocol.MainAgent, protocol.MainSession
	}
	return protocol.MainAgent, protocol.SessionKey(strings.Join([]string{"agent:main", channel, kind, id}, ":"))
}

// Get implements channel.Chats.
func (c chats) Get(_ context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	return protocol.SessionGetResult{Label: c.bench.Label(in.SessionKey)}, nil
}

// Patch implements channel.Chats.
func (c chats) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	c.bench.mu.Lock()
	defer c.bench.mu.Unlock()
	c.bench.labels[in.SessionKey] = *in.Label
	return protocol.OK{OK: true}, nil
}

// Command implements channel.Messages: a text that begins with / is a command if the person sent
// it.
func (b *Bench) Command(_ context.Context, p auth.Principal, _ protocol.SessionKey, text string, _ bool) (protocol.ChatSendResult, bool) {
	if p.Kind != auth.KindOwner || !strings.HasPrefix(text, "/") {
		return protocol.ChatSendResult{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commands = append(b.commands, p.String()+": "+text)
	return protocol.ChatSendResult{Status: protocol.ChatCommand, Command: text[1:], Response: "Done " + text[1:]}, true
}

// Commands returns the commands so far, as WHO: TEXT.
func (b *Bench) Commands() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.commands)
}

// Send implements channel.Messages. It stores the message and its run, and answers according to the
// last word of the message: "refuse" returns a storage error, "fail" fails the run, "ask" asks for
// an approval, "hold" and "ask" leave the run open for [Bench.Answer], "twice" sends a text before
// its answer, "slowly" waits for Bench.Slow first, any other message is repeated.
func (b *Bench) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if _, err := b.Store.Runs.Get(ctx, in.RunID); err == nil {
		return protocol.ChatSendResult{}, protocol.ErrConflict
	}
	words := strings.Fields(in.Message)
	last := words[len(words)-1]
	switch last {
	case "refuse":
		return protocol.ChatSendResult{}, protocol.ErrStorage
	case "slowly":
		for range 2 {
			select {
			case b.Slow <- struct{}{}:
			case <-ctx.Done():
				return protocol.ChatSendResult{}, ctx.Err()
			}
		}
	}
	r := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunThinking, Params: in, Principal: p.String(), CreatedAt: now(), StartedAt: now()}
	m := protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(in.Message)}, Timestamp: now()}
	if _, err := b.Store.Runs.Start(ctx, r, m); err != nil {
		return protocol.ChatSendResult{}, err
	}
	b.mu.Lock()
	b.sent = append(b.sent, Sent{p.String(), in})
	b.mu.Unlock()
	b.run(r)
	switch last {
	case "hold":
	case "ask":
		b.Bus.Publish(protocol.Change{Kind: protocol.ChangeQuestion, Question: &protocol.Question{
			ID: protocol.QuestionID("q-" + string(r.ID)), RunID: r.ID,
			SessionKey: r.Session, State: protocol.QuestionPending,
		}})
	case "fail":
		r.Error = protocol.ErrUnavailable.With("the model is asleep")
		b.end(ctx, r, protocol.RunFailed)
	case "twice":
		b.say(ctx, r, "Let me look.")
		b.Answer(ctx, r.ID, "You said "+last)
	default:
		b.Answer(ctx, r.ID, "You said "+last)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, nil
}

// Answer finishes an open run with a text.
func (b *Bench) Answer(ctx context.Context, id protocol.RunID, text string) error {
	r, err := b.Store.Runs.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := b.say(ctx, r, text); err != nil {
		return err
	}
	return b.end(ctx, r, protocol.RunDone)
}

func (b *Bench) say(ctx context.Context, r store.Run, text string) error {
	stored, err := b.Store.Messages.Append(ctx, r.Session, protocol.Message{RunID: r.ID, Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(text)}, Timestamp: now()})
	for _, m := range stored {
		b.Bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: r.Session, Message: &m})
	}
	return err
}

func (b *Bench) end(ctx context.Context, r store.Run, state string) error {
	r.State, r.EndedAt = state, now()
	if err := b.Store.Runs.Put(ctx, r); err != nil {
		return err
	}
	b.run(r)
	return nil
}

func (b *Bench) run(r store.Run) {
	b.Bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: r.Session, Run: &protocol.RunInfo{RunID: r.ID, SessionKey: r.Session, State: r.State, EndedAt: r.EndedAt, Error: r.Error}})
}

func now() int64 { return time.Now().UnixMilli() }
