// Package computer runs the nodes of this computer: the one of the gateway in this process, and one
// for each remote gateway that may use this computer.
package computer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// Local is the node of the gateway in this process. To change its workspace, it is replaced by a new
// node. It is safe for concurrent use.
type Local struct {
	workspace atomic.Value // string

	mu     sync.Mutex // guards the fields below; held while one node stops and the next starts
	cancel context.CancelFunc
	done   chan struct{}
}

// Start starts the node with a workspace, once the one before has stopped.
func (l *Local) Start(dir string, opts node.Options, log *slog.Logger) error {
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	l.cancel, l.done = cancel, done
	l.workspace.Store(dir)
	crash.Go(func() {
		defer close(done)
		if err := n.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("The node stopped", "err", err)
		}
	})
	return nil
}

// Stop stops the node and waits for it.
func (l *Local) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
}

func (l *Local) stopLocked() {
	if l.cancel != nil {
		l.cancel()
		<-l.done
		l.cancel = nil
	}
}

// Dir returns the workspace of the node, or "" before the first one.
func (l *Local) Dir() string {
	dir, _ := l.workspace.Load().(string)
	return dir
}

// NodeID is the ID of this computer's node at its own gateway.
func NodeID() protocol.NodeID {
	host, _ := os.Hostname()
	return protocol.CleanNodeID(host)
}

// Workspace returns the agent's folder where the person has not chosen one: the current folder, or
// the person's home folder if the current folder is only a system default (see isSystemDefault).
func Workspace() string {
	user, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil || isSystemDefault(dir) {
		return user
	}
	return dir
}

// isSystemDefault reports whether systems start programs in a folder: a root or a program folder.
func isSystemDefault(dir string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	for _, name := range []string{"SystemRoot", "ProgramFiles", "ProgramFiles(x86)"} {
		if root := os.Getenv(name); root != "" && strings.HasPrefix(strings.ToLower(dir)+string(filepath.Separator), strings.ToLower(filepath.Clean(root))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
