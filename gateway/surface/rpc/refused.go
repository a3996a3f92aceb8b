package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// refusedEvery is how often the refused logins of an address are counted in the log after the
	// first one.
	refusedEvery = time.Minute
	// maxRefusedFrom bounds the addresses that are counted apart; the others share otherAddresses.
	maxRefusedFrom = 64
	otherAddresses = "other addresses"
)

// refusals writes refused logins to the log and the audit log: the first of an address at once,
// then their number each minute until a minute passes without one. Whoever guesses tokens is seen,
// and cannot fill the disk with lines.
type refusals struct {
	audit func(ctx context.Context, lines ...protocol.AuditEntry) error

	mu    sync.Mutex     // guards what follows
	more  map[string]int // by address: refused logins since its last line
	timer *time.Timer    // runs while more has an address
}

// add takes a refused login from an address. why never holds the token.
func (r *refusals) add(address string, why error) {
	r.mu.Lock()
	if _, known := r.more[address]; !known && len(r.more) >= maxRefusedFrom {
		address = otherAddresses
	}
	if _, known := r.more[address]; known {
		r.more[address]++
		r.mu.Unlock()
		return
	}
	if len(r.more) == 0 {
		r.more = make(map[string]int)
		r.timer = time.AfterFunc(refusedEvery, r.report)
	}
	r.more[address] = 0
	r.mu.Unlock()
	slog.Warn("Login refused", "from", address, "reason", why)
	r.record("refused from " + address)
}

// report writes the numbers of the last minute and forgets the addresses that had none.
func (r *refusals) report() {
	r.mu.Lock()
	counts := maps.Clone(r.more)
	for address, n := range r.more {
		if r.more[address] = 0; n == 0 {
			delete(r.more, address)
		}
	}
	if len(r.more) > 0 {
		r.timer.Reset(refusedEvery)
	}
	r.mu.Unlock()
	for _, address := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[address]; n > 0 {
			slog.Warn("Logins refused", "from", address, "count", n)
			r.record(fmt.Sprintf("%d more refused from %s", n, address))
		}
	}
}

func (r *refusals) record(what string) {
	line := protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditLogin, By: "nobody", What: what, Verdict: "deny"}
	if err := r.audit(context.Background(), line); err != nil {
		slog.Warn("A refused login is missing from the audit log", "err", err)
	}
}

// close writes the numbers that are left. No login may be refused afterwards.
func (r *refusals) close() {
	r.mu.Lock()
	running := r.timer != nil && r.timer.Stop()
	r.mu.Unlock()
	if running {
		r.report()
		r.timer.Stop()
	}
}
