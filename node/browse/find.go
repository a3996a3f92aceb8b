package browse

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/search"
)

// Limits of a search by name, which runs while a person types.
const (
	maxFound  = 100
	findLimit = 3 * time.Second
)

// finding is the search by name that runs now.
type finding struct {
	mu  sync.Mutex
	end context.CancelFunc // of the search; nil before the first one
}

// begin ends the previous search and returns the context of the next one.
func (f *finding) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end != nil {
		f.end()
	}
	ctx, f.end = context.WithTimeout(ctx, findLimit)
	return ctx, f.end
}

func (b *Browser) findNames(ctx context.Context, p protocol.FilesFindParams) (protocol.FilesFindResult, error) {
	limited, end := b.finding.begin(ctx)
	defer end()
	limit := maxFound
	if p.Limit > 0 {
		limit = min(p.Limit, maxFound)
	}
	out, err := search.Names(limited, b.ws, p.Query, limit)
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}
