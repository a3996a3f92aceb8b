package stream

import (
	"context"
	"fmt"
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// MaxListed is the maximum number of files in a folder that is sent one file at a time.
const MaxListed = 10_000

// listFolder reports the files of a folder to the gateway. It returns false for anything but a
// folder.
func (e *Ends) listFolder(ctx context.Context, n *end, p protocol.TransferSend) bool {
	item, release, err := e.options.Files.Source(p.Path)
	if err != nil {
		return false
	}
	defer release()
	if info, err := item.Root.Stat(item.At); err != nil || !info.IsDir() {
		return false
	}
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Folder: true}
	if err := fillList(ctx, &meta, item, p.Links); err != nil {
		meta = protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Error: err.Error()}
	}
	n.report(ctx, protocol.TransferMeta.Name, meta, false)
	return true
}

// fillList walks a folder until ctx ends.
func fillList(ctx context.Context, meta *protocol.TransferMetaParams, item Item, links string) error {
	below := func(name string) string { return strings.TrimPrefix(name, item.Name+"/") }
	leave := func(name, why string) {
		if len(meta.Problems) < maxProblems {
			meta.Problems = append(meta.Problems, protocol.TransferProblem{Path: name, Text: why})
		}
	}
	w := newWalker([]Item{item}, links, func(kind byte, name, why string) error {
		if kind == recUnreadable {
			meta.Failed++
		}
		leave(below(name), why)
		return nil
	})
	empty := make(map[string]bool) // folders in which nothing was found yet
	for {
		f, ok, err := w.next()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !ok:
			for dir := range empty {
				leave(below(dir), "empty folders cannot be sent one file at a time")
			}
			return nil
		}
		delete(empty, path.Dir(f.name))
		switch {
		case f.mode.IsDir():
			empty[f.name] = true
		case !f.mode.IsRegular():
			leave(below(f.name), "symbolic links cannot be sent one file at a time")
		case len(meta.Entries) == MaxListed:
			return fmt.Errorf("%s contains more than %d files: pack it into one file, or send parts of it", item.Abs, MaxListed)
		default:
			*meta.Size += f.size
			meta.Files++
			meta.Entries = append(meta.Entries, protocol.TransferEntry{Name: below(f.name), Size: f.size})
		}
	}
}
