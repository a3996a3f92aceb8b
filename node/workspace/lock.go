package workspace

import (
	"context"
	"sync"
)

// locks permits one writer per path.
type locks struct {
	mu    sync.Mutex // guards paths
	paths map[string]*pathLock
}

type pathLock struct {
	free  chan struct{} // contains a token while nobody has the lock
	users int
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	t := l.paths[key]
	if t == nil {
		t = &pathLock{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if l.paths == nil {
			l.paths = make(map[string]*pathLock)
		}
		l.paths[key] = t
	}
	t.users++
	l.mu.Unlock()
	release := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(l.paths, key)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; release() }, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}
