package browse

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

func (b *Browser) changes(_ context.Context, p protocol.FilesChangesParams) (protocol.FilesChangesResult, error) {
	list, err := b.backups.load()
	if err != nil {
		return protocol.FilesChangesResult{}, fmt.Errorf("cannot read the agent's changes: %w", err)
	}
	last := map[protocol.SessionKey]protocol.RunID{}
	for _, k := range list {
		last[k.Session] = k.Run
	}
	out := protocol.FilesChangesResult{Changes: []protocol.FileChange{}}
	for _, g := range slices.Backward(groupChanges(list)) {
		if p.SessionKey != "" && p.SessionKey != g.first.Session {
			continue
		}
		state := b.state(g)
		out.Changes = append(out.Changes, protocol.FileChange{
			ID: g.first.ID, Path: g.first.Path, SessionKey: g.first.Session, RunID: g.first.Run, At: g.last.At,
			New: g.first.Before == workspace.Absent, Last: last[g.first.Session] == g.first.Run, Lost: g.first.Lost,
			Reverted: state == protocol.ChangeReverted, Altered: state == protocol.ChangeAltered,
		})
	}
	return out, nil
}

// state compares a file of at most [diff.MaxFile] with a change. A larger one, and one that cannot be
// read, counts as changed by the agent.
func (b *Browser) state(g *change) string {
	at, err := b.ws.Resolve(g.first.Path)
	if err != nil {
		return protocol.ChangeStands
	}
	if now, err := os.Lstat(at.String()); err == nil && now.Size() > diff.MaxFile && !g.last.Undone {
		return protocol.ChangeStands
	}
	sum, err := b.ws.Hash(at)
	if err != nil {
		return protocol.ChangeStands
	}
	return g.state(sum)
}

// state compares the hash of a file with what the agent wrote.
func (g *change) state(sum string) string {
	switch {
	case sum == g.first.Before: // also after a crash before the file was replaced
		return protocol.ChangeReverted
	case sum == g.last.After:
		return protocol.ChangeStands
	case g.last.Undone:
		return protocol.ChangeReverted
	}
	return protocol.ChangeAltered
}

func (b *Browser) diff(_ context.Context, p protocol.FilesChangeParams) (out protocol.FilesDiffResult, err error) {
	g, at, err := b.find(p)
	if err != nil {
		return out, err
	}
	sum, err := b.ws.Hash(at)
	if err != nil {
		return out, describe("read", at, err)
	}
	out.State = g.state(sum)
	before, err := b.backups.before(g)
	if err != nil {
		out.Why = err.Error()
		return out, nil
	}
	after, err := b.backups.after(g)
	if err != nil && out.State == protocol.ChangeStands && sum != workspace.Absent {
		after, _, err = b.ws.ReadFile(at, diff.MaxFile)
	}
	switch {
	case err != nil && out.State == protocol.ChangeReverted:
		return out, nil
	case err != nil:
		out.Why = describe("compare", at, err).Error()
		return out, nil
	}
	name := filepath.ToSlash(b.ws.Rel(at))
	d, ok := diff.OfFile(name, name, textfile.UTF8(before), textfile.UTF8(after), diff.MaxPage)
	switch out.Diff = d.Text; {
	case !ok:
		out.Why = "The files are too large or not text and cannot be compared."
	case d.IsCut:
		out.Why = "Only the beginning is shown."
	}
	return out, nil
}

// before returns the content before a change; nothing if there was no file.
func (p *backups) before(g *change) ([]byte, error) {
	switch {
	case g.first.Lost != "":
		return nil, errors.New(g.first.Lost)
	case g.first.Before == workspace.Absent:
		return nil, nil
	}
	data, err := os.ReadFile(p.name(g.first.ID, ".old"))
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != g.first.Before {
		return nil, errors.New("the previous content is no longer available")
	}
	return data, nil
}

// after returns the content that the agent wrote.
func (p *backups) after(g *change) ([]byte, error) {
	data, err := os.ReadFile(p.name(g.last.ID, ".new"))
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != g.last.After {
		return nil, errors.New("the content that the agent wrote is no longer available")
	}
	return data, nil
}

// saveReverted saves the content that a revert is about to replace.
func (b *Browser) saveReverted(g *change, at workspace.Path) error {
	data, _, err := b.ws.ReadFile(at, maxFileBytes)
	if err != nil {
		return err
	}
	name := b.backups.name(g.last.ID, ".new")
	os.Remove(name) // of an earlier revert
	return writeSynced(name, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// revert restores the content before a change, or with Redo the content after it, unless the file
// was changed since. A file that the agent created is moved to the trash.
func (b *Browser) revert(ctx context.Context, p protocol.FilesChangeParams) (protocol.FilesDone, error) {
	g, at, err := b.find(p)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	what, content, from := "revert", b.backups.before, protocol.ChangeStands
	if p.Redo {
		what, content, from = "redo", b.backups.after, protocol.ChangeReverted
	}
	data, err := content(g)
	if err != nil {
		return protocol.FilesDone{}, describe(what, at, err)
	}
	unlock, err := b.ws.Lock(ctx, at)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	defer unlock()
	sum, err := b.ws.Hash(at)
	if err != nil {
		return protocol.FilesDone{}, describe(what, at, err)
	}
	done := protocol.FilesDone{Path: at.String()}
	switch state := g.state(sum); {
	case p.Redo && sum != g.first.Before && sum != g.last.After:
		return protocol.FilesDone{}, describe(what, at, errors.New("it was changed after the revert; nothing was done"))
	case state == protocol.ChangeAltered:
		return protocol.FilesDone{}, describe(what, at, errors.New("it was changed after the agent's change; nothing was done"))
	case state != from:
		return done, nil
	case p.Redo:
		_, err = b.ws.Write(at, data, g.first.Before, nil)
		return done, describe(what, at, b.marked(g, false, err))
	}
	if err := b.saveReverted(g, at); err != nil {
		slog.Warn("Reverting a change cannot be undone", "path", at, "err", err)
	}
	if g.first.Before == workspace.Absent {
		_, err = b.entries.Trash(at)
	} else {
		_, err = b.ws.Write(at, data, g.last.After, nil)
	}
	return done, describe(what, at, b.marked(g, true, err))
}

// marked notes that a change was undone or redone, unless that failed with err.
func (b *Browser) marked(g *change, undone bool, err error) error {
	if err != nil {
		return err
	}
	if err := b.backups.mark(g, undone); err != nil {
		slog.Warn("The journal of changes could not be updated", "err", err)
	}
	return nil
}
