package fs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits of a listing.
const (
	defaultEntries = 10_000
	maxEntries     = 100_000
)

type listIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

type listOut struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Count     int     `json:"count"`
	Truncated bool    `json:"truncated,omitempty"`
	Duration  int64   `json:"duration_ms"`
}

func previewList(scope access.Scope, in listIn) protocol.CallPreview {
	return preview(scope, in.Path, false, nil)
}

// listFolder lists a folder, in the order of names; with everything below if recursive. A folder that
// cannot be read has an error and does not fail the call. Links are not followed.
func listFolder(ctx context.Context, ws *workspace.Root, _ access.Call, in listIn) (out listOut, err error) {
	began := time.Now()
	if in.Limit < 0 || in.Limit > maxEntries {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("limit must be 1 to %d", maxEntries))
	}
	if in.Limit == 0 {
		in.Limit = defaultEntries
	}
	p, err := resolve(ws, in.Path)
	if err != nil {
		return out, err
	}
	d, err := ws.OpenDir(p)
	if err != nil {
		return out, unreadable(ws, p, "list", err)
	}
	defer d.Close()
	out = listOut{Path: workspace.Spell(d.Abs), Entries: []entry{}}
	l := &lister{ctx: ctx, recursive: in.Recursive, limit: in.Limit, out: &out}
	if err := l.folder(d); err != nil {
		return out, at(p, "list", err)
	}
	out.Count, out.Duration = len(out.Entries), since(began)
	return out, nil
}

type lister struct {
	ctx       context.Context
	recursive bool
	limit     int
	out       *listOut
}

// folder adds the entries of a folder, and closes those below it.
func (l *lister) folder(d *workspace.Dir) error {
	var infos []workspace.Info
	if err := d.Infos(func(i workspace.Info) bool {
		infos = append(infos, i)
		return l.ctx.Err() == nil
	}); err != nil {
		return err
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(infos, func(a, b workspace.Info) int { return strings.Compare(a.Name, b.Name) })
	for _, i := range infos {
		if len(l.out.Entries) == l.limit {
			l.out.Truncated = true
			return nil
		}
		e := newEntry(i)
		if !l.recursive {
			l.out.Entries = append(l.out.Entries, e)
			continue
		}
		e.Path = workspace.Spell(filepath.Join(d.Abs, i.Name))
		l.out.Entries = append(l.out.Entries, e)
		if !e.IsDir {
			continue
		}
		at := len(l.out.Entries) - 1
		if err := l.below(d, i.Name); errors.Is(err, context.Canceled) {
			return err
		} else if err != nil {
			l.out.Entries[at].Error = format.WithoutPath(err).Error()
		}
	}
	return nil
}

func (l *lister) below(d *workspace.Dir, name string) error {
	sub, err := d.Sub(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return l.folder(sub)
}
