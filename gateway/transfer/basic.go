package transfer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// basicTransfer moves files one by one, for ends that know only the basic protocol, which has no
// folders and always overwrites.
type basicTransfer struct {
	mover    *mover
	src, dst *transferEnd
	t        protocol.Transfer
	written  map[string]bool // paths written at a destination that knows only the basic protocol, in lower case
}

// file is one file of a basic transfer.
type file struct {
	source string // the endpoint that contains it
	from   string // its path at the source; for a source that supports streams, the path of the source
	name   string // path below the source, with slashes; empty if the source is the file
	size   int64  // 0 if the source has not reported it
}

// run moves all files. A file that fails does not stop the others.
func (s *basicTransfer) run(ctx context.Context) (out outcome, err error) {
	if err := s.refusal(); err != nil {
		return out, err
	}
	files, out, err := s.list(ctx)
	if err != nil {
		return out, err
	}
	total := int64(0)
	for _, f := range files {
		total += f.size
	}
	s.mover.live.update(func(row *store.Transfer) { row.Files, row.Bytes = len(files), total })
	startup, err := s.authorizeStartup(ctx, files)
	if err != nil {
		return out, err
	}
	out.add(startup)
	for i, f := range files {
		one, err := s.move(ctx, f, stream.ProgressReport{Files: i, Bytes: out.bytes})
		var failed *finalError
		switch {
		case errors.As(err, &failed) && len(files) > 1 && ctx.Err() == nil:
			one.done.Failed = 1
			one.done.Problems = append(one.done.Problems, protocol.TransferProblem{Path: s.place(f), Text: err.Error()})
		case err != nil:
			return out, err
		}
		out.add(one)
	}
	return out, nil
}

// authorizeStartup asks about start-up files in folders, and returns the notes about them.
func (s *basicTransfer) authorizeStartup(ctx context.Context, files []file) (notes outcome, err error) {
	var names []string
	for _, f := range files {
		name := path.Join(lastPart(pathOf(f.source)), f.name)
		at, note := stream.StartupNote(name)
		if at == "" || slices.Contains(names, at) || len(names) == maxStartup {
			continue
		}
		names = append(names, at)
		f.name = strings.TrimPrefix(at, lastPart(pathOf(f.source))+"/")
		notes.done.Problems = append(notes.done.Problems, protocol.TransferProblem{Path: s.place(f), Text: note})
	}
	return notes, s.mover.authorizeStartup(ctx, s.t, names)
}

// add adds the outcome of another file.
func (o *outcome) add(one outcome) {
	o.bytes += one.bytes
	o.done.Files += one.done.Files
	o.done.Skipped += one.done.Skipped
	o.done.Failed += one.done.Failed
	// The destination counts the retained files of the whole transfer.
	o.done.Kept = max(o.done.Kept, one.done.Kept)
	if o.done.Path == "" {
		o.done.Path = one.done.Path
	}
	// Failures come first.
	if o.done.Problems = append(one.done.Problems, o.done.Problems...); len(o.done.Problems) > maxProblems {
		o.done.Problems = o.done.Problems[:maxProblems]
	}
}

// move moves one file.
func (s *basicTransfer) move(ctx context.Context, f file, before stream.ProgressReport) (out outcome, err error) {
	to := joinPath(pathOf(s.t.Destination), s.pathBelow(f))
	if !s.dst.isFairlead {
		if to, err = s.target(ctx, to); err != nil {
			return out, err
		}
		if to == "" {
			out.done.Skipped, out.done.Path = 1, upward(joinPath(pathOf(s.t.Destination), s.pathBelow(f)), f.name)
			return out, nil
		}
	}
	a := newAttempt(s.mover, s.src, s.dst)
	a.earlier = before
	accepted := false
	out, err = a.exchange(ctx, func(ctx context.Context, wg *crash.Group) (outcome, error) {
		return a.runFile(ctx, wg, s, f, to, &accepted)
	})
	if err != nil {
		if accepted && !s.dst.isFairlead && ctx.Err() == nil {
			err = &incompleteError{err, string(s.dst.name) + ":" + to}
		}
		return out, err
	}
	if out.done.Path == "" {
		out.done.Path = to
	}
	out.done.Path = upward(out.done.Path, f.name)
	if out.done.Skipped == 0 {
		out.done.Files = 1
	}
	return out, nil
}

// incompleteError says that a node may have an incomplete file. With only the basic protocol, a
// node writes to the final name.
type incompleteError struct {
	cause error
	where string
}

func (e *incompleteError) Unwrap() error { return e.cause }
func (e *incompleteError) Error() string {
	return fmt.Sprintf("%s. %s may be incomplete: send it again, or delete it", strings.TrimSuffix(e.cause.Error(), "."), e.where)
}

// runFile executes a transfer of one file.
func (a *attempt) runFile(ctx context.Context, wg *crash.Group, s *basicTransfer, f file, to string, accepted *bool) (out outcome, err error) {
	r := a.relay
	send := protocol.TransferSend{Path: f.from}
	if r.src.isFairlead {
		send.Name = f.name
	}
	meta, err := a.askSource(ctx, send)
	if err != nil {
		return out, err
	}
	reported := time.Now()
	r.size = *meta.Size
	a.mover.live.update(func(row *store.Transfer) {
		row.Bytes, row.Route = max(row.Bytes, a.earlier.Bytes+r.size), a.pair().route()
		row.Mime = ""
		if row.Files == 1 {
			row.Mime = meta.Mime
		}
	})
	receive := protocol.TransferReceive{Path: to, Size: r.size, Mime: meta.Mime}
	if r.dst.isFairlead {
		receive.Conflict, receive.ID, receive.From = s.t.Conflict, s.t.ID, s.t.From
		receive.Place = &protocol.TransferPlace{Path: pathOf(s.t.Destination), Into: s.t.Into, Name: s.place(f)}
	}
	if _, err := a.openDestination(ctx, receive); err != nil {
		return out, err
	}
	*accepted = true
	forwarded := make(chan error, 1)
	wg.Go(func() { forwarded <- crash.Call("transfer", func() error { return a.forward(ctx, r.src, r.dst) }) })
	if !r.src.isFairlead {
		if _, err := wait(ctx, time.After(time.Until(reported.Add(startDelay)))); err != nil {
			return out, err
		}
	}
	if err := a.startSource(ctx, nil); err != nil {
		return out, err
	}
	return a.awaitBasic(ctx, r.size, forwarded)
}

// pathBelow returns the path of a file below the destination; "" means that the destination is the
// file's path.
func (s *basicTransfer) pathBelow(f file) string {
	if s.t.Into {
		return path.Join(lastPart(pathOf(f.source)), f.name)
	}
	return f.name
}

// place returns the path of a file in the folder that the transfer writes to.
func (s *basicTransfer) place(f file) string {
	if s.t.Into {
		return s.pathBelow(f)
	}
	return path.Join(lastPart(pathOf(s.t.Destination)), f.name)
}

// separatorsOf returns the characters that separate the parts of a path: a backslash too, unless
// the path begins with a slash.
func separatorsOf(p string) string {
	if strings.HasPrefix(p, "/") {
		return "/"
	}
	return `/\`
}

// splitPath splits a path of any system at its last separator.
func splitPath(p string) (dir, name string) {
	i := strings.LastIndexAny(p, separatorsOf(p))
	return p[:i+1], p[i+1:]
}

func lastPart(p string) string {
	_, name := splitPath(strings.TrimRight(p, `/\`))
	return name
}

// joinPath joins a folder and a path below it; both may be empty.
func joinPath(dir, below string) string {
	if dir == "" || below == "" || strings.HasSuffix(dir, "/") || strings.HasSuffix(dir, `\`) {
		return dir + below
	}
	return dir + "/" + below
}

// upward removes name, a path below a folder, from the end of p.
func upward(p, name string) string {
	if name == "" {
		return p
	}
	for range strings.Count(name, "/") + 1 {
		dir, _ := splitPath(p)
		p = strings.TrimRight(dir, `/\`)
	}
	return p
}
