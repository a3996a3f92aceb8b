package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// send runs the source's end of a transfer.
func (e *Ends) send(ctx context.Context, n *end, p protocol.TransferSend) {
	if p.Stream == nil {
		if !p.List || !e.listFolder(ctx, n, p) {
			e.sendFile(ctx, n, p)
		}
		return
	}
	items, err := openItems(e.options.Files, p.Stream.Paths)
	defer closeItems(items)
	var load Totals
	if err == nil {
		load, err = Count(ctx, items, p.Stream.Links)
	}
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	meta := protocol.TransferMetaParams{
		TransferID: &n.id, Files: load.Files, Size: &load.Bytes, Holes: load.Holes, Mime: mimeOfOne(items), Startup: load.Startup,
	}
	call := prepareDirect(e, p.Stream, func() (Caller, error) { return e.options.Direct.Source(p.Stream.ID) })
	if call != nil {
		self := call.Self()
		meta.Peer = &self
	}
	if !n.report(ctx, protocol.TransferMeta.Name, meta, false) {
		return
	}
	destination, err := n.waitStart(ctx)
	if err != nil {
		return
	}
	e.options.Log.Info("Sending", "transfer", p.Stream.ID, "attempt", p.Stream.Attempt, "files", load.Files, "bytes", load.Bytes)
	s := &Sender{ID: n.id, Items: items, Links: p.Stream.Links, Out: e.options.Peer.SendFrame, In: n.in, Share: &e.share, checkpoints: e.options.Unfinished.checkpoints(partPrefixOf(p.Stream.ID), atSource)}
	direct := e.dialDirect(ctx, n, call, destination)
	if direct != nil {
		s.Out, s.Share = direct.send, nil
	} else {
		e.share.running.Add(1)
		defer e.share.running.Add(-1)
	}
	err = s.Run(ctx)
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err != nil {
		if ctx.Err() != nil {
			e.options.Log.Info("Sending was interrupted", "transfer", p.Stream.ID, "err", err)
			return
		}
		if errors.Is(err, errDirectLost) {
			n.sendRoute(ctx, routeLost)
			return
		}
		done.Error = err.Error()
	}
	n.report(ctx, protocol.TransferComplete.Name, done, true)
	if direct != nil {
		<-direct.closed // by the destination, once it has read everything, or with ctx
	}
}

// waitStart waits for transfer.start, and returns the destination that listens for a direct
// connection, or nil.
func (n *end) waitStart(ctx context.Context) (*protocol.TransferPeer, error) {
	select {
	case destination := <-n.started:
		return destination, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// openItems opens what is to be sent. The caller closes the items, also after an error.
func openItems(files Files, paths []string) (items []Item, err error) {
	for _, path := range paths {
		item, err := files.Source(path)
		if err != nil {
			return items, err
		}
		if name := RequestedNames([]string{path})[0]; foldName(name) == foldName(item.Name) {
			item.Name = name // as it was requested: the disk may spell it in another way
		}
		items = append(items, item)
	}
	return items, nil
}

func closeItems(items []Item) {
	for _, i := range items {
		i.Root.Close()
	}
}

// basicIdle is the maximum wait for a gateway without the extensions, which does not report that
// the other end failed. Then this end gives up without a report, because the gateway may have
// reused the number for another transfer.
const basicIdle = 10 * time.Minute

var errIdle = errors.New("no data for 10 minutes")

// sendFile is the source of a transfer without records: it reports one file, waits for
// transfer.start, and sends its bytes.
func (e *Ends) sendFile(ctx context.Context, n *end, p protocol.TransferSend) {
	f, size, mime, err := openFile(e.options.Files, p.Path, p.Name)
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	defer f.Close()
	waiting, cancel := context.WithTimeoutCause(ctx, basicIdle, errIdle)
	defer cancel()
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: &size, Mime: mime}
	if !n.report(ctx, protocol.TransferMeta.Name, meta, false) {
		return
	}
	if _, err := n.waitStart(waiting); err != nil {
		return
	}
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err := n.sendBytes(ctx, f, size); err != nil {
		if ctx.Err() != nil {
			return
		}
		done.Error = err.Error()
		// Without records only transfer.meta has an error, and transfer.complete means success.
		n.report(ctx, protocol.TransferMeta.Name, protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Error: done.Error}, true)
	}
	n.report(ctx, protocol.TransferComplete.Name, done, true)
}

// openFile opens the file at a path, or, if below is set, the file below that folder.
func openFile(files Files, name, below string) (f *os.File, size int64, mime string, err error) {
	item, err := files.Source(name)
	if err != nil {
		return nil, 0, "", err
	}
	defer item.Root.Close()
	if below != "" {
		item.At, item.Abs, item.Text = path.Join(item.At, below), item.Abs+"/"+below, ""
		if err := CheckName("", below); err != nil {
			return nil, 0, "", err
		}
	}
	f, info, err := openRegular(item.Root, item.At)
	if err != nil {
		return nil, 0, "", fmt.Errorf("Failed to read file %s: %w", item.Abs, format.WithoutPath(err))
	}
	if mime, err = mimeOf(f, item.Text); err != nil {
		f.Close()
		return nil, 0, "", fmt.Errorf("Failed to read file %s: %w", item.Abs, format.WithoutPath(err))
	}
	return f, info.Size(), mime, nil
}

// mimeOf returns the MIME type of a file by its first bytes. text is the type for text files, and
// may be empty.
func mimeOf(f io.ReaderAt, text string) (string, error) {
	head := make([]byte, 512)
	k, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	mime, _, _ := strings.Cut(http.DetectContentType(head[:k]), ";")
	switch mime {
	case "text/plain": // nothing was recognized; then GSV sends no type either
		return text, nil
	case "application/octet-stream":
		return "", nil
	}
	return mime, nil
}

// mimeOfOne returns the MIME type if a single file is sent; empty if unknown.
func mimeOfOne(items []Item) string {
	if len(items) != 1 {
		return ""
	}
	one := items[0]
	if info, err := one.Root.Lstat(one.At); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, _, err := openRegular(one.Root, one.At)
	if err != nil {
		return "" // the error is reported when the file is sent
	}
	defer f.Close()
	mime, err := mimeOf(f, one.Text)
	if err != nil {
		return ""
	}
	return mime
}

func (n *end) sendBytes(ctx context.Context, f *os.File, size int64) error {
	sent := int64(0)
	for {
		frame := newFrame(n.id)
		k, err := io.ReadFull(f, frame.buf[idSize:idSize+maxBody])
		frame.buf = frame.buf[:idSize+k]
		sent += int64(k)
		if k == 0 {
			frame.Free()
		} else if err := n.peer.SendFrame(ctx, frame); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if sent != size {
				return errFileChanged
			}
			return nil
		case err != nil:
			return format.WithoutPath(err)
		case sent > size:
			return errFileChanged
		}
	}
}

// MaxListed is the maximum number of files in a folder that is sent one file at a time.
const MaxListed = 10_000

// listFolder reports the files of a folder to the gateway. It returns false for anything but a
// folder.
func (e *Ends) listFolder(ctx context.Context, n *end, p protocol.TransferSend) bool {
	item, err := e.options.Files.Source(p.Path)
	if err != nil {
		return false
	}
	defer item.Root.Close()
	if info, err := item.Root.Stat(item.At); err != nil || !info.IsDir() {
		return false
	}
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Folder: true}
	if err := fillList(ctx, &meta, item, p.Links); err != nil {
		n.refuse(ctx, err)
	} else {
		n.report(ctx, protocol.TransferMeta.Name, meta, false)
	}
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
