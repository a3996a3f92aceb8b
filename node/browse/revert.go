package browse

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
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
		out.Changes = append(out.Changes, protocol.FileChange{
			ID: g.first.ID, Path: g.first.Path, SessionKey: g.first.Session, RunID: g.first.Run, At: g.last.At,
			New: g.first.Before == workspace.Absent, Last: last[g.first.Session] == g.first.Run, Lost: g.first.Lost, Reverted: b.isReverted(g),
		})
	}
	return out, nil
}

// isReverted reports whether a file is the same as before a change. A file of another size is not.
// Only a file of the same size is read, up to [maxDiffFile]; a larger one counts as changed.
func (b *Browser) isReverted(g *change) bool {
	at, err := b.ws.Resolve(g.first.Path)
	if err != nil {
		return false
	}
	now, err := os.Lstat(at.String())
	if g.first.Before == workspace.Absent {
		return errors.Is(err, os.ErrNotExist)
	}
	if err != nil || now.Size() > maxDiffFile {
		return false
	}
	old, err := os.Stat(b.backups.name(g.first.ID, ".old"))
	if err != nil || old.Size() != now.Size() {
		return false
	}
	sum, err := b.ws.Hash(at)
	return err == nil && g.state(sum) == protocol.ChangeReverted
}

// state compares a file with what the agent wrote.
func (g *change) state(sum string) string {
	switch sum {
	case g.first.Before: // also after a crash before the file was replaced
		return protocol.ChangeReverted
	case g.last.After:
		return protocol.ChangeStands
	}
	return protocol.ChangeAltered
}

// maxDiff bounds the size of a diff, and maxDiffFile that of a compared file.
const (
	maxDiff     = 1 << 20
	maxDiffFile = 4 << 20
)

func (b *Browser) diff(_ context.Context, p protocol.FilesChangeParams) (out protocol.FilesDiffResult, err error) {
	g, at, err := b.find(p.ID, p.Path)
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
	var now []byte
	if sum != workspace.Absent {
		if now, _, err = b.ws.ReadFile(at, maxDiffFile); err != nil {
			out.Why = describe("compare", at, err).Error()
			return out, nil
		}
	}
	if len(before) > maxDiffFile || !utf8.Valid(before) || !utf8.Valid(now) {
		out.Why = "The files are not text and cannot be compared."
		return out, nil
	}
	name := filepath.ToSlash(b.ws.Rel(at))
	out.Diff = diff.New(name, name, before, now).Text
	if len(out.Diff) > maxDiff {
		out.Diff = out.Diff[:strings.LastIndexByte(out.Diff[:maxDiff], '\n')+1]
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

// revert restores the content before a change, unless the file was changed since. A file that the
// agent created is moved to the trash.
func (b *Browser) revert(ctx context.Context, p protocol.FilesChangeParams) (protocol.FilesDone, error) {
	g, at, err := b.find(p.ID, p.Path)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	before, err := b.backups.before(g)
	if err != nil {
		return protocol.FilesDone{}, describe("revert", at, err)
	}
	unlock, err := b.ws.Lock(ctx, at)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	defer unlock()
	sum, err := b.ws.Hash(at)
	if err != nil {
		return protocol.FilesDone{}, describe("revert", at, err)
	}
	done := protocol.FilesDone{Path: at.String()}
	switch g.state(sum) {
	case protocol.ChangeReverted:
		return done, nil
	case protocol.ChangeAltered:
		return protocol.FilesDone{}, describe("revert", at, errors.New("it was changed after the agent's change; nothing was done"))
	}
	if g.first.Before == workspace.Absent {
		_, err = b.entries.Trash(at)
	} else {
		_, err = b.ws.Write(at, before, g.last.After, nil)
	}
	return done, describe("revert", at, err)
}
