package session

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// archivePath returns the path of an archive's file, relative to the data folder.
func archivePath(id protocol.ArchiveID) string { return path.Join("archive", string(id)+".jsonl.gz") }

func archiveInfo(a store.Archive) protocol.ArchiveInfo {
	info := protocol.ArchiveInfo{ID: a.ID, SessionID: a.Session, Kind: a.Kind, Messages: a.Messages, Tokens: tokens(a.Usage), CreatedAt: a.CreatedAt, Size: a.Size}
	if a.Size > 0 {
		info.ArchivedTo = archivePath(a.ID)
	}
	return info
}

// keepArchive writes an archive's file and returns its path. If that fails, the messages stay in
// the database and the next start tries again.
func (m *Manager) keepArchive(ctx context.Context, a store.Archive) string {
	if a.ID == "" {
		return ""
	}
	name := filepath.Join(m.opts.Home, filepath.FromSlash(archivePath(a.ID)))
	size, err := writeWith(name, func(w io.Writer) error { return m.writeArchive(ctx, a, w) })
	if err == nil {
		err = m.store.Archives.SetFileSize(ctx, a.ID, size)
	}
	if err != nil {
		slog.Error("The archive file could not be written; the messages stay in the database", "session", a.Key, "err", err)
		return ""
	}
	return archivePath(a.ID)
}

// archivePage is the number of messages held in memory at once.
const archivePage = 500

func (m *Manager) writeArchive(ctx context.Context, a store.Archive, w io.Writer) error {
	z := gzip.NewWriter(w)
	for from := a.First; from <= a.Last; from += archivePage {
		part := a
		part.First, part.Last = from, min(from+archivePage-1, a.Last)
		msgs, err := m.store.Archives.Messages(ctx, part, 0, 0)
		if err != nil {
			return err
		}
		for _, msg := range msgs {
			raw, err := protocol.Marshal(msg)
			if err != nil {
				return err
			}
			if _, err := z.Write(append(raw, '\n')); err != nil {
				return err
			}
		}
	}
	return z.Close()
}

// finishArchives writes the archive files that an earlier start could not write.
func (m *Manager) finishArchives(ctx context.Context) {
	list, err := m.store.Archives.WithoutFile(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("The archives could not be listed", "err", err)
	}
	for _, a := range list {
		if ctx.Err() != nil {
			return
		}
		m.keepArchive(ctx, a)
	}
}

// Archives lists a chat's archives, newest first.
func (m *Manager) Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	key := m.Canonical(in.SessionKey)
	out := protocol.SessionArchivesResult{SessionKey: key, Archives: []protocol.ArchiveInfo{}}
	list, err := m.store.Archives.List(ctx, key)
	for _, a := range list {
		out.Archives = append(out.Archives, archiveInfo(a))
	}
	return out, err
}

// ReadArchive returns the messages of an archive.
func (m *Manager) ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	var out protocol.SessionArchiveReadResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	if in.Limit < 0 || in.Before < 0 {
		return out, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	a, err := m.store.Archives.Get(ctx, m.Canonical(in.SessionKey), in.ID)
	if err != nil {
		return out, err
	}
	out.Archive = archiveInfo(a)
	out.Messages, err = m.store.Archives.Messages(ctx, a, in.Before, in.Limit)
	return out, err
}

// writeWith writes a file atomically, even if the program or the machine crashes, and returns its
// size.
func writeWith(path string, fill func(io.Writer) error) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	if err = fill(f); err == nil {
		if size, err = f.Seek(0, io.SeekCurrent); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	return size, nil
}
