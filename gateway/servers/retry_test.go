package servers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// brokenMachine runs no command.
type brokenMachine struct {
	mu  sync.Mutex // guards at
	at  []float64  // seconds since new
	new time.Time
}

func (*brokenMachine) Nodes() []protocol.NodeInfo {
	return []protocol.NodeInfo{{ID: "laptop", Online: true, Local: true}}
}

func (b *brokenMachine) Continue(context.Context, tool.Step) (json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = append(b.at, time.Since(b.new).Seconds())
	return nil, errors.New("it does not start")
}

// Authorize allows every call.
func (b *brokenMachine) Authorize(context.Context, tool.Call) (tool.Authorization, error) {
	return tool.Authorization{}, nil
}

// runner is a machine that makes the steps of calls.
type runner interface {
	Machines
	Calls
}

// runFor runs the server srv on a machine for a time, and returns its manager.
func runFor(t *testing.T, machine runner, during time.Duration) *Manager {
	t.Helper()
	c := config.Default()
	c.MCP.Servers["srv"] = protocol.ServerSpec{Command: "x"}
	m, err := Open(t.Context(), Options{
		Config: settings{&c}, Store: rows{}, Machines: machine, Bus: new(event.Bus),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	m.Run(ctx, machine)
	return m
}

func TestPausesAfterFailuresGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &brokenMachine{new: time.Now()}
		runFor(t, b, 20*time.Minute)
		want := []float64{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111}
		if !slices.Equal(b.at, want) {
			t.Errorf("it was started after %v seconds, want %v", b.at, want)
		}
	})
}

// silentMachine is a machine whose command never writes anything.
type silentMachine struct{ *brokenMachine }

func (silentMachine) Continue(ctx context.Context, s tool.Step) (json.RawMessage, error) {
	if !s.IsStart {
		return json.RawMessage(`{}`), nil
	}
	s.OnProgress(protocol.ToolProgress{CallID: s.Call, Chunk: []byte(`{"started": true, "err": "d2FpdGluZyBmb3IgR29kb3QK"}`)})
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTheStateSaysThatAServerHasNotAnsweredYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := runFor(t, silentMachine{}, 15*time.Second)
		s, _ := m.find("srv")
		got := s.status()
		if want := "it has not answered for 10 s; it wrote: waiting for Godot"; got.State != protocol.ServerStarting || got.Error != want {
			t.Errorf("got %s: %q, want starting: %q", got.State, got.Error, want)
		}
	})
}

func TestAServerThatNeverAnswersSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := runFor(t, silentMachine{}, 7*time.Minute)
		s, _ := m.find("srv")
		log := strings.Join(s.log.lines(), "\n")
		if want := "Failed: the server did not answer within 3 minutes; it wrote: waiting for Godot"; !strings.Contains(log, want) {
			t.Errorf("got the log:\n%s\nwant %q in it", log, want)
		}
	})
}
