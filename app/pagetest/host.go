package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/host"
)

// Host is a [host.Host] that records what a page asks for.
type Host struct {
	Did    []string // such as "say Saved.", "open host.Page Transfers"
	Undone func()   // undoes what the page did last
}

// Open implements [host.Host].
func (h *Host) Open(to host.Target) {
	h.Did = append(h.Did, fmt.Sprintf("%s %v", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", to), "host.")), to))
}

// Say implements [host.Host].
func (h *Host) Say(text string) { h.Did = append(h.Did, "say "+text) }

// Undo implements [host.Host].
func (h *Host) Undo(text string, undo func(), _ time.Time) {
	h.Did, h.Undone = append(h.Did, "undo "+text), undo
}

// Copy implements [host.Host].
func (h *Host) Copy(text string) { h.Did = append(h.Did, "copy "+text) }

// Run implements [host.Host].
func (h *Host) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	bind.Run(ctx, work, func(err error) {
		if err != nil {
			h.Say(failed + ": " + err.Error())
			return
		}
		done()
	})
}

// Now is a [Host] that runs work at once, or holds it.
type Now struct {
	Host
	Holds bool
	Held  []func()
}

// Run implements [host.Host].
func (h *Now) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	run := func() {
		if err := work(ctx); err != nil {
			h.Say(failed + ": " + err.Error())
			return
		}
		done()
	}
	if h.Holds {
		h.Held = append(h.Held, run)
		return
	}
	run()
}

// Release runs what is held, also what is added meanwhile.
func (h *Now) Release() {
	for len(h.Held) > 0 {
		next := h.Held[0]
		h.Held = h.Held[1:]
		next()
	}
}

// Gateway is a [feed.Gateway] whose answers a test defines. A method without one succeeds.
type Gateway map[string]func(params any) (any, error)

// Invoke implements [feed.Gateway].
func (g Gateway) Invoke(_ context.Context, method string, params any) (json.RawMessage, error) {
	answer := g[method]
	if answer == nil {
		return nil, nil
	}
	result, err := answer(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}
