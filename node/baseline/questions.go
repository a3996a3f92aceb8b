package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

const (
	// maxNamed is the number of files that a question names. Its answer is for all of them.
	maxNamed = 64
	// maxErrors is the number of files whose failure a result explains.
	maxErrors = 3
)

// Questions are about changes that were put back: the person can keep them. They are stored until
// they are answered, and safe for concurrent use.
type Questions struct {
	disk   *disk
	ws     *workspace.Root
	edit   func(path string) (done func()) // see [Store.Edit]
	report func(protocol.PutBack)          // nil without anybody to ask
}

// add stores a question about what was put back, and reports it.
func (q *Questions) add(p protocol.PutBack) {
	data, err := json.Marshal(p)
	if err == nil {
		err = replaceFile(q.disk.asideName(p.ID), data)
	}
	if err != nil {
		q.disk.log.Error("What was put back could not be recorded", "err", err)
		return
	}
	if q.report != nil {
		q.report(shorten(p))
	}
}

// shorten returns what a question says: it names the first changes, and counts the others.
func shorten(p protocol.PutBack) protocol.PutBack {
	if n := len(p.Changes); n > maxNamed {
		p.Changes, p.More = p.Changes[:maxNamed], n-maxNamed
	}
	return p
}

func (s *disk) asideName(id string) string {
	return filepath.Join(s.asideDir(), filepath.Base(id)+runSuffix)
}

// Pending returns what was put back and waits for an answer.
func (q *Questions) Pending() (list []protocol.PutBack) {
	entries, _ := os.ReadDir(q.disk.asideDir())
	for _, e := range entries {
		if p, err := q.disk.aside(strings.TrimSuffix(e.Name(), runSuffix)); err == nil {
			list = append(list, shorten(p))
		}
	}
	return list
}

// Forget removes the record of what was put back, which stays in the trash.
func (q *Questions) Forget(id string) { os.Remove(q.disk.asideName(id)) }

func (s *disk) aside(id string) (p protocol.PutBack, err error) {
	data, err := os.ReadFile(s.asideName(id))
	if err != nil || json.Unmarshal(data, &p) != nil || p.ID != id {
		return p, toolkit.Failf("There is nothing to keep: it was answered before, or has expired.")
	}
	return p, nil
}

// Keep makes the tool keep, with which an answer of the person makes the changes of a command
// again.
func (q *Questions) Keep() toolkit.Tool[access.Call] {
	t := toolkit.Define(protocol.KeepTool, "Keeps changes of protected files by a command, which were put back. For the gateway.",
		// A second call fails, because the files are not as they were put back any longer.
		toolkit.Traits{Effect: protocol.EffectWrite, Idempotent: true, Caps: []string{protocol.CapWrite}}, q.keep)
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in protocol.KeepArgs) (protocol.CallPreview, error) {
		return q.preview(in), nil
	})
}

func (q *Questions) keep(_ context.Context, _ access.Call, in protocol.KeepArgs) (protocol.PutBack, error) {
	p, err := q.disk.aside(in.ID)
	if err != nil {
		return p, err
	}
	var failed []error
	for _, c := range p.Changes {
		if err := q.repeat(c); err != nil {
			failed = append(failed, fmt.Errorf("'%s': %w", c.Path, err))
		}
	}
	q.Forget(p.ID)
	if len(failed) > 0 {
		return p, toolkit.Failf("%d of %d files could not be changed again. They stay as they are, and what the command wrote stays in the trash. %w", len(failed), len(p.Changes), errors.Join(failed[:min(len(failed), maxErrors)]...))
	}
	return shorten(p), nil
}

// repeat makes a change again. The file must be as it was put back; what it replaces moves to the
// trash.
func (q *Questions) repeat(c protocol.ProtectedChange) error {
	at, err := q.ws.Resolve(c.Path)
	if err != nil {
		return err
	}
	defer q.edit(at.Abs)()
	entries := q.ws.Entries()
	if c.Kind != protocol.ProtectedRemoved {
		if after := q.disk.stateOf(entries.Trashed(at, c.Trash), state{}); after.Sum != c.SHA256 {
			return errors.New("it is no longer in the trash as it was shown")
		}
	}
	if _, err := os.Lstat(at.Abs); err == nil {
		if c.Kind == protocol.ProtectedCreated {
			return workspace.ErrExists
		}
		if _, err := entries.Trash(at); err != nil {
			return err
		}
	}
	if c.Kind == protocol.ProtectedRemoved {
		return nil
	}
	_, err = entries.Restore(c.Trash)
	return err
}

// preview shows the changes as one diff.
func (q *Questions) preview(in protocol.KeepArgs) (out protocol.CallPreview) {
	p, err := q.disk.aside(in.ID)
	if err != nil {
		access.SetProblem(&out, err)
		return out
	}
	shown := shorten(p)
	paths := make([]string, len(shown.Changes))
	for i, c := range shown.Changes {
		paths[i] = c.Path
	}
	if !slices.Equal(paths, in.Paths) || shown.More != in.More {
		access.SetProblem(&out, toolkit.Failf("The files are not those that were put back."))
		return out
	}
	for i, c := range p.Changes {
		at, err := q.ws.Resolve(c.Path)
		if err != nil {
			access.SetProblem(&out, err)
			return out
		}
		if i == 0 {
			out.Path, out.NewFile = at.String(), c.Kind == protocol.ProtectedCreated
		}
		before, after := "", ""
		if c.Kind != protocol.ProtectedCreated {
			before = readable(at.Abs)
		}
		if c.Kind != protocol.ProtectedRemoved {
			after = readable(q.ws.Entries().Trashed(at, c.Trash))
		}
		diff.AddTo(&out, filepath.ToSlash(q.ws.Rel(at)), c.Kind == protocol.ProtectedCreated, []byte(before), []byte(after))
	}
	return out
}

// readable returns the text of a file, or a line that describes another one.
func readable(path string) string {
	if target, err := os.Readlink(path); err == nil {
		return "symbolic link to " + target + "\n"
	}
	f, err := openFile(path)
	if err != nil {
		return "unreadable\n"
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, diff.MaxFile+1))
	info, statErr := f.Stat()
	if data = textfile.UTF8(data); err != nil || statErr != nil || !diff.IsText(data) {
		size := "unknown size"
		if statErr == nil {
			size = format.Size(info.Size())
		}
		return fmt.Sprintf("not text, %s\n", size)
	}
	return string(data)
}
