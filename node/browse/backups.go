package browse

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/diff"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// A replaced file is saved in the node's data folder as a note ID.json and its content ID.old, all
// readable only by the person's own account. Both are written before the file is replaced. A crash
// in between leaves a note of a change that never happened, which its hashes reveal. ID.new has the
// new content, if it is not too large to be shown.
const (
	maxAge       = 30 * 24 * time.Hour
	maxBytes     = 500 << 20 // bytes of all contents
	maxFileBytes = 64 << 20  // largest saved content; the same as the limit of Edit
)

// backups stores replaced files. It is safe for use by many goroutines.
type backups struct {
	dir string // empty: nothing is saved

	mu      sync.Mutex // guards written
	written int64      // bytes since the last removal of old files
}

type backup struct {
	ID      string              `json:"id"`
	Call    protocol.CallID     `json:"call"`
	Session protocol.SessionKey `json:"session"`
	Run     protocol.RunID      `json:"run"`
	Path    string              `json:"path"`
	At      int64               `json:"at"`
	Before  string              `json:"before"` // SHA-256, or [workspace.Absent]
	After   string              `json:"after"`
	Lost    string              `json:"lost,omitempty"` // why the content was not saved
	Undone  bool                `json:"undone,omitempty"`
}

// Backup saves the content that a call of the agent is about to replace. A file whose old content
// cannot be saved is replaced all the same, because the person has allowed that.
func (b *Browser) Backup(call protocol.CallID, session protocol.SessionKey, run protocol.RunID) workspace.Backup {
	if b.backups.dir == "" {
		return nil
	}
	return func(abs string, old, fresh io.Reader, sum string) {
		now := time.Now()
		k := backup{
			ID: fmt.Sprintf("%015d-%s", now.UnixMilli(), strings.ToLower(rand.Text())), Call: call, Session: session, Run: run, Path: workspace.Spell(abs),
			At: now.UnixMilli(), Before: workspace.Absent, After: sum,
		}
		b.backups.save(k, old, fresh)
	}
}

func (p *backups) save(k backup, old, fresh io.Reader) {
	if os.MkdirAll(p.dir, 0o700) != nil {
		return
	}
	var size int64
	if old != nil {
		var err error
		if k.Before, size, err = p.copyContent(p.name(k.ID, ".old"), old, maxFileBytes); err != nil {
			k.Lost = "The previous content could not be saved: " + err.Error() + "."
			os.Remove(p.name(k.ID, ".old"))
			size = 0
		}
	}
	if _, n, err := p.copyContent(p.name(k.ID, ".new"), fresh, diff.MaxFile); err != nil {
		os.Remove(p.name(k.ID, ".new"))
	} else {
		size += n
	}
	if p.writeNote(k) != nil {
		for _, ext := range []string{".json", ".old", ".new"} {
			os.Remove(p.name(k.ID, ext))
		}
		return
	}
	p.mu.Lock()
	p.written += size
	full := p.written > maxBytes/10
	p.mu.Unlock()
	if full {
		p.sweep(time.Now())
	}
}

func (p *backups) writeNote(k backup) error {
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	os.Remove(p.name(k.ID, ".json"))
	return writeSynced(p.name(k.ID, ".json"), func(w io.Writer) error { _, err := w.Write(raw); return err })
}

// mark notes that the replacements of a change were undone, or done again.
func (p *backups) mark(g *change, undone bool) error {
	var errs []error
	for _, k := range g.all {
		k.Undone = undone
		errs = append(errs, p.writeNote(k))
	}
	return errors.Join(errs...)
}

// copyContent saves a content of at most limit bytes, and returns its hash and size.
func (p *backups) copyContent(name string, from io.Reader, limit int64) (sum string, size int64, err error) {
	h := sha256.New()
	err = writeSynced(name, func(w io.Writer) error {
		size, err = io.Copy(io.MultiWriter(w, h), io.LimitReader(from, limit+1))
		if err == nil && size > limit {
			err = fmt.Errorf("it is larger than %s", format.Size(limit))
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), size, err
}

func writeSynced(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return atomicfile.Finish(f, write(f))
}

func (p *backups) name(id, ext string) string { return filepath.Join(p.dir, id+ext) }

// load returns all notes, oldest first, without those that a crash has cut short.
func (p *backups) load() ([]backup, error) {
	if p.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(p.dir) // sorted, because names begin with the time
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var list []backup
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(p.dir, e.Name()))
		var k backup
		if err == nil && json.Unmarshal(raw, &k) == nil && k.ID == id {
			list = append(list, k)
		}
	}
	return list, nil
}

// change is the change of one file by one run: its first and its last replacement.
type change struct {
	first, last backup
	all         []backup
}

// groupChanges combines successive replacements, oldest first. When somebody else changed the file
// in between, a new group begins. Replacements that were undone are groups of their own.
func groupChanges(list []backup) (out []*change) {
	at := map[string]*change{}
	for _, k := range list {
		key := fmt.Sprintf("%s\x00%s\x00%s\x00%v", k.Session, k.Run, k.Path, k.Undone)
		if g := at[key]; g != nil && g.last.After == k.Before {
			g.last, g.all = k, append(g.all, k)
			continue
		}
		g := &change{k, k, []backup{k}}
		at[key] = g
		out = append(out, g)
	}
	return out
}

// find returns a change of a run, whose first replacement has the ID, or that of a call, and the
// file. The path must match because it is what the rules have judged.
func (b *Browser) find(p protocol.FilesChangeParams) (*change, workspace.Path, error) {
	list, err := b.backups.load()
	if err != nil {
		return nil, workspace.Path{}, err
	}
	groups := groupChanges(list)
	if p.CallID != "" {
		groups = nil
		for _, k := range list {
			groups = append(groups, &change{k, k, []backup{k}})
		}
	}
	for _, g := range groups {
		if p.CallID != "" && g.first.Call != p.CallID || p.CallID == "" && g.first.ID != p.ID {
			continue
		}
		if filepath.Clean(p.Path) != g.first.Path {
			return nil, workspace.Path{}, errors.New("this change belongs to another file")
		}
		at, err := b.ws.Resolve(g.first.Path)
		return g, at, err
	}
	return nil, workspace.Path{}, errors.New("this change has expired: replaced content is kept for 30 days, and at most 500 MB of it")
}

// Sweep removes expired contents, then the oldest ones until the size limit is met.
func (b *Browser) Sweep(now time.Time) error { return b.backups.sweep(now) }

func (p *backups) sweep(now time.Time) error {
	if p.dir == "" {
		return nil
	}
	p.mu.Lock()
	p.written = 0
	p.mu.Unlock()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	// Sort the newest first.
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(b.Name(), a.Name()) })
	var total int64
	var errs []error
	for _, e := range entries {
		millis, _, _ := strings.Cut(e.Name(), "-")
		var at int64
		if _, err := fmt.Sscan(strings.TrimLeft(millis, "0"), &at); err != nil {
			continue // not one of our files
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if total += info.Size(); total > maxBytes || now.Sub(time.UnixMilli(at)) > maxAge {
			errs = append(errs, os.Remove(filepath.Join(p.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
