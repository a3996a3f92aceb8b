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
	// refusedEvery is the interval at which further refused logins of an address are logged as a
	// count.
	refusedEvery = time.Minute
	// maxRefusedFrom limits the addresses that are counted separately; all others share
	// otherAddresses.
	maxRefusedFrom = 64
	otherAddresses = "other addresses"
)

// refusals writes refused logins to the log and the audit log: the first of an address at once,
// then their number each minute until a minute passes without one. So guessing tokens is visible,
// and cannot fill the disk with log lines.
type refusals struct {
	audit func(ctx context.Context, lines ...protocol.AuditEntry) error

	mu     sync.Mutex     // guards the fields below
	counts map[string]int // address to the number of refused logins since its last log line
	timer  *time.Timer    // runs while more is not empty
}

// add counts a refused login from an address. why never contains the token.
func (r *refusals) add(address string, why error) {
	r.mu.Lock()
	if _, known := r.counts[address]; !known && len(r.counts) >= maxRefusedFrom {
		address = otherAddresses
	}
	if _, known := r.counts[address]; known {
		r.counts[address]++
		r.mu.Unlock()
		return
	}
	if len(r.counts) == 0 {
		r.counts = make(map[string]int)
		r.timer = time.AfterFunc(refusedEvery, r.report)
	}
	r.counts[address] = 0
	r.mu.Unlock()
	slog.Warn("Login refused", "from", address, "reason", why)
	r.record("refused from " + address)
}

// report logs the counts of the last minute and removes the addresses that had none.
func (r *refusals) report() {
	r.mu.Lock()
	counts := maps.Clone(r.counts)
	for address, n := range r.counts {
		if r.counts[address] = 0; n == 0 {
			delete(r.counts, address)
		}
	}
	if len(r.counts) > 0 {
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

// close logs the remaining counts. add must not be called afterwards.
func (r *refusals) close() {
	r.mu.Lock()
	running := r.timer != nil && r.timer.Stop()
	r.mu.Unlock()
	if running {
		r.report()
		r.timer.Stop()
	}
}
