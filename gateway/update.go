package gateway

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/junction"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/rpc"
)

// Progress says how far the store of an earlier Fairlead is brought up to date. Its String is such as "step 2 of 3, about 40 %".
type Progress = store.Progress

// updateLog is how often the log says how far it is.
const updateLog = 5 * time.Second

// openStore opens the store. While an older one is brought up to date, the log and o.Updating are told how far it is, and so is everyone who asks the
// gateway anything over the network.
func (g *Gateway) openStore(ctx context.Context, o Options) (err error) {
	var wg sync.WaitGroup
	answering, end := context.WithCancel(ctx)
	defer wg.Wait()
	defer end()
	var now atomic.Pointer[Progress]
	var logged time.Time
	began := time.Now()
	path := filepath.Join(o.Home, "fairlead.db")
	why := func() *protocol.Error { return updating(*now.Load()) }
	g.store, err = store.OpenTelling(ctx, path, func(p Progress) {
		was := now.Swap(&p)
		if was == nil && g.listener != nil {
			wg.Go(func() { rpc.NotYet(answering, g.listener, why) })
		}
		if was == nil {
			wg.Go(func() { g.tellMachines(answering, path, why) })
		}
		if was == nil || was.Step != p.Step || time.Since(logged) >= updateLog {
			logged = time.Now()
			g.log.Info("Updating the store; nothing of it is lost when this is interrupted", slog.String("done", p.String()))
		}
		if o.Updating != nil {
			o.Updating(p)
		}
	})
	if err == nil && now.Load() != nil {
		g.log.Info("The store is up to date", "took", time.Since(began).Round(time.Second))
	}
	return err
}

func updating(p Progress) *protocol.Error {
	return protocol.Updating{Step: p.Step, Steps: p.Steps, Percent: p.Percent}.Error(p.String())
}

// tellMachines answers the paired machines where they look for the gateway, until ctx ends. They come back by themselves either way: what fails here is
// no more than a word they do not hear.
func (g *Gateway) tellMachines(ctx context.Context, path string, why func() *protocol.Error) {
	peek, err := store.Peek(ctx, path)
	if err != nil {
		g.log.Debug("The settings cannot be read while the store is updated", "err", err)
		return
	}
	cfg, _, err := config.Open(ctx, peek, g.secrets)
	peek.Close()
	if err != nil || !cfg.Get().Network.Enabled {
		return
	}
	l, err := listenTLS(g.secrets, cfg.Get().Network.Listen, new(junction.Junction))
	if err != nil {
		g.log.Debug("Machines are not told that the store is updated", "err", err)
		return
	}
	defer l.Close()
	rpc.NotYet(ctx, l, why)
}
