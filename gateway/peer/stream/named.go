package stream

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// Named is the files of a [Disk] that its person has named to one gateway in a transfer which they began here. A gateway may be on another computer, and be
// somebody else's one day: over a person's window it reads and writes what they named to it, and nothing else. What was named is remembered over starts,
// since transfers wait and go on. It is safe for use by many goroutines and processes.
type Named struct {
	disk    Disk
	file    string // empty: it is remembered until the program ends
	gateway string

	mu    sync.Mutex // guards known
	known map[wish]bool
}

// wish is one end of a transfer.
type wish struct {
	out     bool // it is sent
	path    string
	gateway string // to which it was named
}

const (
	// namedAge is how long it is remembered what was named: longer than any transfer waits that nobody looks after.
	namedAge = 90 * 24 * time.Hour
	// namedSize is from how many bytes on the file is read for what is old, at the start.
	namedSize = 1 << 20
)

// OpenNamed remembers beside a ledger what is named to a gateway: the pin of one that this device is paired with, the address of one that is reached so,
// empty for the data folder's own. A nil ledger remembers until the program ends.
func OpenNamed(d Disk, l *Ledger, gateway string) *Named {
	n := &Named{disk: d, gateway: gateway, known: make(map[wish]bool)}
	if l != nil {
		n.file = l.dir + ".named"
		n.thin()
	}
	return n
}

// Add remembers what a transfer that is about to be asked for names on this computer. An error says that it would be forgotten with this program.
func (n *Named) Add(p protocol.TransferStartParams) error {
	var list []wish
	for _, s := range p.Sources {
		list = n.appendWish(list, s, true)
	}
	list = n.appendWish(list, p.Destination, false)
	if len(list) == 0 {
		return nil
	}
	var lines strings.Builder
	n.mu.Lock()
	for _, w := range list {
		n.known[w] = true
		fmt.Fprintf(&lines, "%d %t %s %s\n", time.Now().UnixMilli(), w.out, strconv.Quote(w.path), strconv.Quote(w.gateway))
	}
	n.mu.Unlock()
	if n.file == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(n.file), 0o700)
	if err != nil {
		return fmt.Errorf("remember what was named: %w", err)
	}
	f, err := os.OpenFile(n.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("remember what was named: %w", err)
	}
	_, err = f.WriteString(lines.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("remember what was named: %w", err)
	}
	return nil
}

func (n *Named) appendWish(list []wish, endpoint string, out bool) []wish {
	path, ok := strings.CutPrefix(endpoint, string(protocol.Here)+":")
	if !ok {
		return list
	}
	if abs, err := n.disk.abs(path); err == nil {
		list = append(list, wish{out, abs, n.gateway})
	}
	return list
}

// has reports whether somebody named a path here; another program of theirs may have written it down.
func (n *Named) has(w wish) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[w] {
		for _, old := range n.read() {
			n.known[old.wish] = true
		}
	}
	return n.known[w]
}

// remembered is a wish with when it was written down.
type remembered struct {
	wish
	at   time.Time
	line string
}

func (n *Named) read() (list []remembered) {
	f, err := os.Open(n.file)
	if err != nil {
		return nil // nothing was named
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if w, ok := parseWish(lines.Text()); ok && time.Since(w.at) < namedAge {
			list = append(list, w)
		}
	}
	return list
}

func parseWish(line string) (w remembered, ok bool) {
	at, rest, _ := strings.Cut(line, " ")
	out, rest, _ := strings.Cut(rest, " ")
	quoted, _ := strconv.QuotedPrefix(rest)
	ms, err := strconv.ParseInt(at, 10, 64)
	path, err2 := strconv.Unquote(quoted)
	gateway, err3 := strconv.Unquote(strings.TrimPrefix(rest[len(quoted):], " "))
	return remembered{wish{out == "true", path, gateway}, time.UnixMilli(ms), line}, err == nil && err2 == nil && err3 == nil && (out == "true" || out == "false")
}

// thin drops what is old from a large file.
func (n *Named) thin() {
	info, err := os.Stat(n.file)
	if err != nil || info.Size() < namedSize {
		return
	}
	var text strings.Builder
	for _, w := range n.read() {
		text.WriteString(w.line + "\n")
	}
	temp := n.file + ".new"
	if os.WriteFile(temp, []byte(text.String()), 0o600) == nil {
		os.Rename(temp, n.file)
	}
}

// Disk is all files, for who works on this computer's own behalf.
func (n *Named) Disk() Disk { return n.disk }

// Source is [Files].
func (n *Named) Source(name string) (Item, func(), error) {
	if err := n.check(name, true, "sends"); err != nil {
		return Item{}, nil, err
	}
	return n.disk.Source(name)
}

// Target is [Files].
func (n *Named) Target(name string, into, make bool) (Target, error) {
	if err := n.check(name, false, "writes to"); err != nil {
		return Target{}, err
	}
	return n.disk.Target(name, into, make)
}

func (n *Named) check(name string, out bool, does string) error {
	abs, err := n.disk.abs(name)
	if err != nil {
		return err
	}
	if !n.has(wish{out, abs, n.gateway}) {
		return fmt.Errorf("Nobody named %s to this gateway on this computer, which %s only what somebody names there: begin the transfer anew", abs, does) //lint:ignore ST1005 shown as it is
	}
	return nil
}
