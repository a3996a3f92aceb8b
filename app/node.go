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

// localNode is the node of this process. Its workspace can be changed: then another takes its place.
type localNode struct {
	workspace atomic.Value // string

	mu     sync.Mutex // guards what follows; held while one ends and the next begins
	cancel context.CancelFunc
	done   chan struct{}
}

// stop ends the node and waits for it.
func (l *localNode) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *localNode) end() {
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

// startNode runs this machine's node in a folder, instead of the one that runs. It blocks until that has ended.
func (b *backend) startNode(dir string) error {
	if b.gw == nil {
		return errors.New("this window uses a gateway elsewhere; start the node there")
	}
	opts, err := b.nodeOptions(dir)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	opts.ID, opts.Dial, opts.LogDir = protocol.CleanNodeID(host), b.gw.DialNode(), b.gw.LogDir()
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	l := &b.node
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	l.cancel, l.done = cancel, done
	l.workspace.Store(dir)
	go func() {
		defer close(done)
		if err := n.Run(ctx); err != nil && ctx.Err() == nil {
			b.log.Error("The node ended", "err", err)
		}
	}()
	return nil
}

// nodeOptions are what every node of this computer has: where it works, and how far it reaches.
func (b *backend) nodeOptions(dir string) (node.Options, error) {
	confine, err := b.prefs.get().Confine.parse()
	return node.Options{Workspace: dir, Confine: confine, Home: b.gw.Home(), Logger: b.log, Version: gateway.Version}, err
}

// setWorkspace lets the node work in another folder, now and after the next start.
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
	b.prefs.update(func(r *remembered) { r.Workspace = dir })
	b.elsewhere.works.again()
	return nil
}

// workspace is the folder the agent works in: as asked, else as set, else where the program was started, unless that says nothing.
func (b *backend) workspace() string {
	if b.f.workspace != "" {
		return b.f.workspace
	}
	if dir := b.prefs.get().Workspace; dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		b.log.Warn("The workspace of the settings is gone", "dir", dir)
	}
	user, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil || saysNothing(dir) {
		return user
	}
	return dir
}

// saysNothing reports whether a folder is one that a system starts programs in by itself: the root, and on Windows the folders of programs.
func saysNothing(dir string) bool {
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
