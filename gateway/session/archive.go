package session

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

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// archiveFiles writes and removes the files of archives.
type archiveFiles struct {
	home     string // the data folder
	archives *store.Archives
}

// archiveName returns the path of an archive's file, relative to the data folder.
func archiveName(id protocol.ArchiveID) string { return path.Join("archive", string(id)+".jsonl.gz") }

func (f *archiveFiles) path(id protocol.ArchiveID) string {
	return filepath.Join(f.home, filepath.FromSlash(archiveName(id)))
}

// archiveInfo describes an archive for clients.
func archiveInfo(a store.Archive) protocol.ArchiveInfo {
	info := protocol.ArchiveInfo{ID: a.ID, SessionID: a.Session, Kind: a.Kind, Messages: a.Messages, Tokens: tokens(a.Usage), CreatedAt: a.CreatedAt, Size: a.Size}
	if a.Size > 0 {
		info.ArchivedTo = archiveName(a.ID)
	}
	return info
}

// tokens returns the counts of a usage that clients show.
func tokens(u protocol.Usage) protocol.Tokens {
	return protocol.Tokens{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, Total: u.Total}
}

// write writes an archive's file and returns its path relative to the data folder, or ""
// without messages. If that fails, the messages stay in the database and the next start tries
// again.
func (f *archiveFiles) write(ctx context.Context, x store.Archive) string {
	if x.ID == "" {
		return ""
	}
	size, err := atomicfile.Fill(f.path(x.ID), 0o600, func(w io.Writer) error { return f.writeMessages(ctx, x, w) })
	if err == nil {
		err = f.archives.SetFileSize(ctx, x.ID, size)
	}
	if err != nil {
		slog.Error("Writing an archive file failed; the messages stay in the database", "session", x.Key, "err", err)
		return ""
	}
	return archiveName(x.ID)
}

// writeMessages writes one message per line, compressed.
func (f *archiveFiles) writeMessages(ctx context.Context, x store.Archive, w io.Writer) error {
	msgs, err := f.archives.Messages(ctx, x, 0, 0)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	for _, msg := range msgs {
		raw, err := protocol.Marshal(msg)
		if err != nil {
			return err
		}
		if _, err := z.Write(append(raw, '\n')); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeMissing writes the files that an earlier start could not write.
func (f *archiveFiles) writeMissing(ctx context.Context) {
	list, err := f.archives.WithoutFile(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("Listing archives without a file failed", "err", err)
	}
	for _, x := range list {
		if ctx.Err() != nil {
			return
		}
		f.write(ctx, x)
	}
}

// removeUnused removes the files of archives that no longer exist.
func (f *archiveFiles) removeUnused(ctx context.Context) error {
	ids, err := f.archives.IDs(ctx)
	if err != nil {
		return err
	}
	list, err := fs.Glob(os.DirFS(f.home), archiveName("*"))
	errs := []error{err}
	for _, name := range list {
		if !slices.ContainsFunc(ids, func(id protocol.ArchiveID) bool { return archiveName(id) == name }) {
			errs = append(errs, os.Remove(filepath.Join(f.home, filepath.FromSlash(name))))
		}
	}
	return errors.Join(errs...)
}
