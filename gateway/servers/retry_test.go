package servers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

func (b *brokenMachine) Call(context.Context, protocol.NodeID, protocol.ToolInvoke, func(protocol.ToolProgress)) (json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = append(b.at, time.Since(b.new).Seconds())
	return nil, errors.New("it does not start")
}

func TestPausesAfterFailuresGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		c.MCP.Servers["srv"] = protocol.ServerSpec{Command: "x"}
		b := &brokenMachine{new: time.Now()}
		m, err := Open(t.Context(), Options{
			Config: settings{&c}, Store: rows{}, Machines: b, Bus: new(event.Bus),
			Authorize: func(context.Context, tool.Call) (tool.Authorization, error) { return tool.Authorization{}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.Run(ctx)
		}()
		time.Sleep(20 * time.Minute)
		cancel()
		<-done
		want := []float64{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111}
		if !slices.Equal(b.at, want) {
			t.Errorf("it was started after %v seconds, want %v", b.at, want)
		}
	})
}
