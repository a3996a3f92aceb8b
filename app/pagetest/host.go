package pagetest

import (
	"context"
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
