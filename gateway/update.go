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

// Progress reports how far the migration of an earlier version's store is. Its String is such as
// "step 2 of 3, about 40 %".
type Progress = store.Progress

// updateLog is the interval at which the progress is logged.
const updateLog = 5 * time.Second

// openStore opens the store. During a migration, it reports the progress to the log, to o.Updating,
// and to everyone who sends the gateway a request over the network.
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

// tellMachines answers paired machines at the network listener's address, until ctx ends. They
// reconnect by themselves in any case, so errors here only lose the message.
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
