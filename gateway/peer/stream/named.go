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
// person's window it can read and write only the paths that were named to it. The paths are stored,
// because transfers can continue after a restart. It is safe for concurrent use, also by several
// processes.
type NamedPaths struct {
	disk    Disk
	file    string // empty: remembered only until the program ends
	gateway string

	mu    sync.Mutex // guards known
	paths map[namedPath]bool
}

// namedPath is a path that the person named as one end of a transfer.
type namedPath struct {
	isSource bool // to be sent, not received
	path     string
	gateway  string // the gateway to which it was named
}

const (
	// namedAge is the time for which a path is remembered: longer than any unattended transfer
	// waits.
	namedAge = 90 * 24 * time.Hour
	// namedSize is the size in bytes from which old lines are removed from the file at the start.
	namedSize = 1 << 20
)

// OpenNamed stores the named paths beside the record of unfinished files. gateway is the pin of a
// paired gateway, the address of another one, or empty for the gateway of the data folder. Without
// one, paths are remembered until the program ends.
func OpenNamed(d Disk, l *UnfinishedFiles, gateway string) *NamedPaths {
	n := &NamedPaths{disk: d, gateway: gateway, paths: make(map[namedPath]bool)}
	if l != nil {
		n.file = l.dir + ".named"
		n.compact()
	}
	return n
}

// Add remembers the local paths of a transfer that is about to be requested. An error means that
// they will be forgotten when the program ends.
func (n *NamedPaths) Add(p protocol.TransferStartParams) error {
	list := n.appendPath(nil, p.Destination, false)
	for _, s := range p.Sources {
		list = n.appendPath(list, s, true)
	}
	var lines strings.Builder
	n.mu.Lock()
	for _, w := range list {
		n.paths[w] = true
		fmt.Fprintf(&lines, "%d %t %q %q\n", time.Now().UnixMilli(), w.isSource, w.path, w.gateway)
	}
	n.mu.Unlock()
	if len(list) == 0 || n.file == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(n.file), 0o700)
	if err == nil {
		err = appendTo(n.file, lines.String())
	}
	if err != nil {
		return fmt.Errorf("store the named paths: %w", err)
	}
	return nil
}

// appendTo appends text to a file, which it creates if necessary.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (n *NamedPaths) appendPath(list []namedPath, endpoint string, isSource bool) []namedPath {
	path, ok := strings.CutPrefix(endpoint, string(protocol.Here)+":")
	if !ok {
		return list
	}
	if abs, err := n.disk.absolute(path); err == nil {
		list = append(list, namedPath{isSource, abs, n.gateway})
	}
	return list
}

// isNamed reports whether the person named a path here, possibly in another program that stored it.
func (n *NamedPaths) isNamed(w namedPath) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, stored := n.read()[w]
	return stored || n.paths[w]
}

// read returns the stored paths that have not expired, and their lines in the file.
func (n *NamedPaths) read() map[namedPath]string {
	stored := make(map[namedPath]string)
	data, _ := os.ReadFile(n.file) // without the file, nothing was named
	for line := range strings.Lines(string(data)) {
		var w namedPath
		var at int64
		if _, err := fmt.Sscanf(line, "%d %t %q %q", &at, &w.isSource, &w.path, &w.gateway); err == nil && time.Since(time.UnixMilli(at)) < namedAge {
			stored[w] = line
		}
	}
	return stored
}

// compact removes old lines from a large file.
func (n *NamedPaths) compact() {
	info, err := os.Stat(n.file)
	if err != nil || info.Size() < namedSize {
		return
	}
	var text strings.Builder
	for _, line := range n.read() {
		text.WriteString(strings.TrimSpace(line) + "\n")
	}
	temp := n.file + ".new"
	if os.WriteFile(temp, []byte(text.String()), 0o600) == nil {
		os.Rename(temp, n.file)
	}
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
	if !n.isNamed(namedPath{isSource, abs, n.gateway}) {
		return fmt.Errorf("%s was not chosen on this computer, which %s only files that were chosen here: start the transfer again", abs, does)
	}
	return nil
}
