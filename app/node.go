package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// localNode is the node of this process. To change its workspace, it is replaced by a new node.
type localNode struct {
	workspace atomic.Value // string

	mu     sync.Mutex // guards the fields below; held while one node stops and the next starts
	cancel context.CancelFunc
	done   chan struct{}
}

// stop stops the node and waits for it.
func (l *localNode) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
}

func (l *localNode) stopLocked() {
	if l.cancel != nil {
		l.cancel()
		<-l.done
		l.cancel = nil
	}
}

func (l *localNode) dir() string {
	dir, _ := l.workspace.Load().(string)
	return dir
}

// startNode replaces the running node by one with another workspace. It blocks until the old one
// has stopped.
func (b *backend) startNode(dir string) error {
	if b.gw == nil {
		return errors.New("this window is connected to a remote gateway; start the node there")
	}
	opts, err := b.nodeOptions(dir)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	opts.ID, opts.Dial, opts.LogDir = protocol.CleanNodeID(host), b.gw.Dial, b.gw.LogDir()
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	l := &b.node
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	l.cancel, l.done = cancel, done
	l.workspace.Store(dir)
	go func() {
		defer close(done)
		if err := n.Run(ctx); err != nil && ctx.Err() == nil {
			b.log.Error("The node stopped", "err", err)
		}
	}()
	return nil
}

// nodeOptions returns the options that all nodes of this computer share: workspace and confinement.
func (b *backend) nodeOptions(dir string) (node.Options, error) {
	confine, err := b.prefs.get().Confine.parse()
	return node.Options{Workspace: dir, Confine: confine, Home: b.gw.Home(), Logger: b.log, Version: gateway.Version}, err
}

// setWorkspace moves the node to another workspace, now and after the next start.
func (b *backend) setWorkspace(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if err := b.startNode(dir); err != nil {
		return err
	}
	b.prefs.update(func(r *preferences) { r.Workspace = dir })
	b.remote.nodes.restart()
	return nil
}

// workspace returns the agent's folder: from the command line, else from the preferences, else the
// current folder, or the person's home folder if the current folder is only a system default (see
// isSystemDefault).
func (b *backend) workspace() string {
	if b.flags.workspace != "" {
		return b.flags.workspace
	}
	if dir := b.prefs.get().Workspace; dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		b.log.Warn("The workspace in the settings does not exist", "dir", dir)
	}
	user, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil || isSystemDefault(dir) {
		return user
	}
	return dir
}

// isSystemDefault reports whether a folder is a default in which systems start programs: the root,
// and on Windows the program folders.
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
