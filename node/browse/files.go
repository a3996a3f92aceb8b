package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// Browser carries out file operations for people. It is safe for use by many goroutines.
type Browser struct {
	ws      *workspace.Root
	entries workspace.Entries
	watches watches
	backups *backups
	finding finding
}

// New makes the browser of a workspace. The files that the agent replaces are saved in the folder
// home, which is created; if home is empty, nothing is saved. publish receives the changes in
// watched folders, on one goroutine, until Close.
func New(ws *workspace.Root, home string, publish func(protocol.FilesChange)) *Browser {
	return &Browser{ws: ws, entries: ws.Entries(), watches: watches{publish: publish}, backups: &backups{dir: home}}
}

// Close stops watching all folders.
func (b *Browser) Close() { b.watches.close() }

// Limits of one answer, which must fit into a frame. Entries of a folder beyond them are left out.
const (
	maxEntries   = 200_000
	maxListBytes = 12 << 20
)

// Call carries out one of the operations of package protocol, by its name. Errors are sentences for
// people.
func (b *Browser) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	switch name {
	case protocol.ActList:
		return runOperation(ctx, args, b.list)
	case protocol.ActFind:
		return runOperation(ctx, args, b.findNames)
	case protocol.ActMake:
		return runOperation(ctx, args, b.make)
	case protocol.ActMove:
		return runOperation(ctx, args, b.move)
	case protocol.ActTrash:
		return runOperation(ctx, args, b.trash)
	case protocol.ActRestore:
		return runOperation(ctx, args, b.restore)
	case protocol.ActChanges:
		return runOperation(ctx, args, b.changes)
	case protocol.ActDiff:
		return runOperation(ctx, args, b.diff)
	case protocol.ActRevert:
		return runOperation(ctx, args, b.revert)
	case protocol.ActRead:
		return runOperation(ctx, args, b.read)
	case protocol.ActWrite:
		return runOperation(ctx, args, b.write)
	}
	return nil, fmt.Errorf("this machine does not support %s; update Fairlead there", name)
}

func runOperation[P, R any](ctx context.Context, args json.RawMessage, f func(context.Context, P) (R, error)) (json.RawMessage, error) {
	var p P
	if err := json.Unmarshal(args, &p); err != nil {
		return nil, fmt.Errorf("arguments: %s", protocol.Problem(err))
	}
	r, err := f(ctx, p)
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(r)
}

func (b *Browser) list(ctx context.Context, p protocol.FilesListParams) (protocol.FilesListResult, error) {
	at, err := b.ws.Resolve(p.Path)
	if err != nil {
		return protocol.FilesListResult{}, err
	}
	var known []workspace.Info
	watching := b.begin(p.WatchID, at, p.Below)
	defer func() {
		if watching != "" {
			b.know(watching, known)
		}
	}()
	d, err := b.ws.OpenDir(at)
	if err != nil {
		return protocol.FilesListResult{}, describe("open", at, err)
	}
	defer d.Close()
	out := protocol.FilesListResult{Path: workspace.Spell(d.Abs), Entries: []protocol.FileInfo{}, ReadOnly: b.ws.IsFolderReadOnly(d.Abs)}
	size := 0
	err = d.Infos(func(i workspace.Info) bool {
		if ctx.Err() != nil {
			return false
		}
		if size += len(i.Name) + 110; len(out.Entries) == maxEntries || size > maxListBytes {
			out.Cut = true
			return false
		}
		out.Entries = append(out.Entries, b.info(d.Abs, i))
		if watching != "" {
			known = append(known, i)
		}
		return true
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return protocol.FilesListResult{}, describe("list", at, err)
	}
	if watching != "" {
		out.WatchID = p.WatchID
	}
	return out, nil
}

func (b *Browser) info(dir string, i workspace.Info) protocol.FileInfo {
	out := protocol.FileInfo{Name: workspace.Spell(i.Name), Kind: protocol.FileRegular, Time: i.Time.UnixMilli(), Mode: i.Mode.String()}
	switch {
	case i.Mode.IsRegular():
		out.Size = i.Size
	case i.Mode.IsDir():
		out.Kind = protocol.FileFolder
	case i.Mode&fs.ModeSymlink != 0:
		out.Kind = protocol.FileLink
		switch _, target, err := b.ws.Target(workspace.Path{Abs: filepath.Join(dir, i.Name)}); {
		case err != nil:
		case target.IsDir():
			out.Leads = protocol.FileFolder
		case target.Mode().IsRegular():
			out.Leads = protocol.FileRegular
		}
	default:
		out.Kind = protocol.FileOther
	}
	return out
}

func (b *Browser) make(_ context.Context, p protocol.FilesPathParams) (protocol.FilesDone, error) {
	at, err := b.ws.Resolve(p.Path)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	made, err := b.entries.Mkdir(at)
	return protocol.FilesDone{Path: made.String()}, describe("create", at, err)
}

func (b *Browser) move(ctx context.Context, p protocol.FilesMoveParams) (protocol.FilesDone, error) {
	from, err := b.ws.Resolve(p.Path)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	to, err := b.ws.Resolve(p.To)
	if err != nil {
		return protocol.FilesDone{}, err
	}
	unlock, err := b.ws.Lock(ctx, from) // wait until a running write to the file is finished
	if err != nil {
		return protocol.FilesDone{}, err
	}
	defer unlock()
	now, err := b.entries.Move(from, to)
	if errors.Is(err, workspace.ErrExists) {
		return protocol.FilesDone{}, describe("move to", to, err)
	}
	return protocol.FilesDone{Path: now.String()}, describe("move", from, err)
}

func (b *Browser) trash(ctx context.Context, p protocol.FilesTrashParams) (protocol.FilesTrashResult, error) {
	out := protocol.FilesTrashResult{Items: []protocol.Trashed{}}
	for _, name := range p.Paths {
		at, err := b.ws.Resolve(name)
		if err == nil {
			err = ctx.Err()
		}
		var id string
		if err == nil {
			id, err = b.entries.Trash(at)
			err = describe("delete", at, err)
		}
		if err != nil && len(out.Items) == 0 {
			return out, err
		}
		if err != nil {
			out.Problem = err.Error()
			return out, nil
		}
		out.Items = append(out.Items, protocol.Trashed{ID: id, Path: at.String()})
	}
	return out, nil
}

func (b *Browser) restore(_ context.Context, p protocol.FilesRestoreParams) (protocol.FilesDone, error) {
	back, err := b.entries.Restore(p.ID)
	return protocol.FilesDone{Path: back.String()}, describe("restore", workspace.Path{Abs: workspace.Unspell(cmp.Or(p.Path, p.ID))}, err)
}

// describe says which operation failed, unless the error is complete by itself.
func describe(what string, p workspace.Path, err error) error {
	switch {
	case err == nil || workspace.IsRefusal(err) || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot %s '%s': the system does not allow it", what, p)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot %s '%s': it does not exist", what, p)
	}
	return fmt.Errorf("cannot %s '%s': %w", what, p, err)
}
