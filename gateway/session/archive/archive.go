// Package archive stores the messages that a reset, a restore or a compaction removed from a chat:
// in the database, and as one compressed file per archive in archive/ of the data folder.
package archive

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/disk"
	"fairlead/gateway/store"
)

// pageSize is the number of messages held in memory at once while a file is written.
const pageSize = 500

// Archives reads archives and writes their files. It is safe for concurrent use.
type Archives struct {
	home  string
	store *store.DB
}

// New returns the archives in a data folder.
func New(home string, s *store.DB) *Archives { return &Archives{home: home, store: s} }

// fileName returns the path of an archive's file, relative to the data folder.
func fileName(id protocol.ArchiveID) string { return path.Join("archive", string(id)+".jsonl.gz") }

func (a *Archives) path(id protocol.ArchiveID) string {
	return filepath.Join(a.home, filepath.FromSlash(fileName(id)))
}

// Info describes an archive for clients.
func Info(a store.Archive) protocol.ArchiveInfo {
	info := protocol.ArchiveInfo{ID: a.ID, SessionID: a.Session, Kind: a.Kind, Messages: a.Messages, Tokens: Tokens(a.Usage), CreatedAt: a.CreatedAt, Size: a.Size}
	if a.Size > 0 {
		info.ArchivedTo = fileName(a.ID)
	}
	return info
}

// Tokens returns the counts of a usage that clients show.
func Tokens(u protocol.Usage) protocol.Tokens {
	return protocol.Tokens{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, Total: u.Total}
}

// WriteFile writes an archive's file and returns its path relative to the data folder, or "" for an
// archive without messages. If that fails, the messages stay in the database and the next start
// tries again.
func (a *Archives) WriteFile(ctx context.Context, x store.Archive) string {
	if x.ID == "" {
		return ""
	}
	size, err := disk.Write(a.path(x.ID), func(w io.Writer) error { return a.writeMessages(ctx, x, w) })
	if err == nil {
		err = a.store.Archives.SetFileSize(ctx, x.ID, size)
	}
	if err != nil {
		slog.Error("Writing an archive file failed; the messages stay in the database", "session", x.Key, "err", err)
		return ""
	}
	return fileName(x.ID)
}

// writeMessages writes one message per line, compressed.
func (a *Archives) writeMessages(ctx context.Context, x store.Archive, w io.Writer) error {
	z := gzip.NewWriter(w)
	for from := x.First; from <= x.Last; from += pageSize {
		page := x
		page.First, page.Last = from, min(from+pageSize-1, x.Last)
		msgs, err := a.store.Archives.Messages(ctx, page, 0, 0)
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

// WriteMissingFiles writes the files that an earlier start could not write.
func (a *Archives) WriteMissingFiles(ctx context.Context) {
	list, err := a.store.Archives.WithoutFile(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("Listing archives without a file failed", "err", err)
	}
	for _, x := range list {
		if ctx.Err() != nil {
			return
		}
		a.WriteFile(ctx, x)
	}
}

// RemoveFile removes the file of an archive that was restored: the file is written again when the
// conversation is archived again.
func (a *Archives) RemoveFile(x store.Archive) {
	if err := os.Remove(a.path(x.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("Removing the file of a restored archive failed", "session", x.Key, "err", err)
	}
}

// List lists a chat's archives, newest first.
func (a *Archives) List(ctx context.Context, chat protocol.SessionKey) (protocol.SessionArchivesResult, error) {
	out := protocol.SessionArchivesResult{SessionKey: chat, Archives: []protocol.ArchiveInfo{}}
	list, err := a.store.Archives.List(ctx, chat)
	for _, x := range list {
		out.Archives = append(out.Archives, Info(x))
	}
	return out, err
}

// Read returns the messages of a chat's archive. in.SessionKey must be canonical.
func (a *Archives) Read(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	var out protocol.SessionArchiveReadResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	if in.Limit < 0 || in.Before < 0 {
		return out, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	x, err := a.store.Archives.Get(ctx, in.SessionKey, in.ID)
	if err != nil {
		return out, err
	}
	out.Archive = Info(x)
	out.Messages, err = a.store.Archives.Messages(ctx, x, in.Before, in.Limit)
	return out, err
}

// RemoveUnused removes the files of archives that no longer exist.
func (a *Archives) RemoveUnused(ctx context.Context) error {
	dir := filepath.Join(a.home, "archive")
	list, err := disk.Names(dir)
	if err != nil || len(list) == 0 {
		return err
	}
	ids, err := a.store.Archives.IDs(ctx)
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
