package stream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// NamedPaths gives one gateway access to the files of a [Disk] that the person named in transfers
// which they started here. A gateway may be on another computer, which may change hands: through a
// person's window it can read and write only the paths that were named to it. Each path is stored
// as a file, because transfers can continue after a restart. It is safe for concurrent use, also by
// several processes.
type NamedPaths struct {
	disk    Disk
	dir     string // empty: paths are remembered only until the program ends
	gateway string

	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// namedAge is the time for which a path is remembered: longer than any unattended transfer waits.
const namedAge = 90 * 24 * time.Hour

// OpenNamed stores the named paths beside the record of unfinished files. gateway is the pin of a
// paired gateway, the address of another one, or empty for the gateway of the data folder. Without
// the record, paths are remembered until the program ends.
func OpenNamed(d Disk, l *UnfinishedFiles, gateway string) *NamedPaths {
	n := &NamedPaths{disk: d, gateway: gateway, paths: make(map[string]bool)}
	if l == nil {
		return n
	}
	n.dir = l.dir + "-named"
	list, _ := os.ReadDir(n.dir) // without the folder, nothing was named
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > namedAge {
			os.Remove(filepath.Join(n.dir, e.Name()))
		}
	}
	return n
}

// Add remembers the local paths of a transfer that is about to be requested. An error means that
// they will be forgotten when the program ends.
func (n *NamedPaths) Add(p protocol.TransferStartParams) error {
	err := n.add(p.Destination, false)
	for _, s := range p.Sources {
		err = errors.Join(err, n.add(s, true))
	}
	if err != nil {
		return fmt.Errorf("store the named paths: %w", err)
	}
	return nil
}

// add remembers the path of an endpoint on this computer. isSource tells that it is sent, not
// received.
func (n *NamedPaths) add(endpoint string, isSource bool) error {
	path, ok := strings.CutPrefix(endpoint, string(protocol.Here)+":")
	if !ok {
		return nil
	}
	abs, err := n.disk.absolute(path)
	if err != nil {
		return nil // the transfer fails
	}
	text := n.text(abs, isSource)
	n.mu.Lock()
	n.paths[text] = true
	n.mu.Unlock()
	if n.dir == "" {
		return nil
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(n.file(text), []byte(text), 0o600)
}

// text describes a path that was named to the gateway, and file returns its file.
func (n *NamedPaths) text(abs string, isSource bool) string {
	return fmt.Sprintf("%t %q %q\n", isSource, abs, n.gateway)
}

func (n *NamedPaths) file(text string) string { return filepath.Join(n.dir, shortHash(text)) }

// isNamed reports whether the person named a path here, possibly in another program that stored it.
func (n *NamedPaths) isNamed(abs string, isSource bool) bool {
	text := n.text(abs, isSource)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.paths[text] || n.dir == "" {
		return n.paths[text]
	}
	stored, err := os.ReadFile(n.file(text))
	return err == nil && string(stored) == text
}

// Disk gives access to all files, for the program's own work on this computer.
func (n *NamedPaths) Disk() Disk { return n.disk }

// Source implements [Files].
func (n *NamedPaths) Source(name string) (Item, error) {
	if err := n.check(name, true, "sends"); err != nil {
		return Item{}, err
	}
	return n.disk.Source(name)
}

// Target implements [Files].
func (n *NamedPaths) Target(name string, into, make bool) (Target, error) {
	if err := n.check(name, false, "writes to"); err != nil {
		return Target{}, err
	}
	return n.disk.Target(name, into, make)
}

func (n *NamedPaths) check(name string, isSource bool, does string) error {
	abs, err := n.disk.absolute(name)
	if err != nil {
		return err
	}
	if !n.isNamed(abs, isSource) {
		return fmt.Errorf("%s was not chosen on this computer, which %s only files that were chosen here: start the transfer again", abs, does)
	}
	return nil
}
