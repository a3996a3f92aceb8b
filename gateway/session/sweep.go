package session

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// purge permanently removes deleted chats whose time for undo has passed, with their files.
func (m *Manager) purge() {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	m.sweep(m.ctx)
	for {
		n, err := m.store.Sessions.PurgeDeleted(m.ctx, m.now()-protocol.UndoMillis)
		if err != nil && m.ctx.Err() == nil {
			slog.Warn("Deleted chats could not be removed", "err", err)
		}
		if n > 0 {
			m.sweep(m.ctx)
		}
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// sweep removes media and archive files that no chat refers to.
func (m *Manager) sweep(ctx context.Context) {
	if err := errors.Join(m.sweepMedia(ctx), m.sweepArchives(ctx)); err != nil && ctx.Err() == nil {
		slog.Warn("Files of deleted chats could not be removed", "err", err)
	}
}

func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			list = append(list, e.Name())
		}
	}
	return list, err
}

func (m *Manager) sweepMedia(ctx context.Context) error {
	dir := filepath.Join(m.opts.Home, "media")
	list, err := names(dir)
	if err != nil {
		return err
	}
	var keys []string
	for _, name := range list {
		if key := "media/" + name; mediaKey.MatchString(key) {
			keys = append(keys, key)
		}
	}
	if keys, err = m.store.Media.Unreferenced(ctx, keys); err != nil {
		return err
	}
	var errs []error
	for _, key := range keys {
		errs = append(errs, m.dropMedia(ctx, key))
	}
	small, err := names(filepath.Join(dir, "fit"))
	for _, name := range small {
		if _, statErr := os.Stat(filepath.Join(dir, name)); errors.Is(statErr, fs.ErrNotExist) {
			errs = append(errs, os.Remove(filepath.Join(dir, "fit", name)))
		}
	}
	return errors.Join(append(errs, err)...)
}

// dropMedia removes a file, unless a message that is being processed or was stored meanwhile refers
// to it.
func (m *Manager) dropMedia(ctx context.Context, key string) error {
	m.media.Lock() // a message registers its file under this lock before it checks whether the file exists
	defer m.media.Unlock()
	if m.kept[key] > 0 {
		return nil
	}
	still, err := m.store.Media.Unreferenced(ctx, []string{key})
	if err != nil || len(still) == 0 {
		return err
	}
	return os.Remove(filepath.Join(m.opts.Home, filepath.FromSlash(key)))
}

func (m *Manager) sweepArchives(ctx context.Context) error {
	dir := filepath.Join(m.opts.Home, "archive")
	list, err := names(dir)
	if err != nil || len(list) == 0 {
		return err
	}
	ids, err := m.store.Archives.IDs(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range list {
		if id, ok := strings.CutSuffix(name, ".jsonl.gz"); ok && !slices.Contains(ids, protocol.ArchiveID(id)) {
			errs = append(errs, os.Remove(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}
