// Package media stores the pictures and recordings of chats, each under a name derived from its
// content, in media/ of the data folder.
package media

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/session/disk"
)

var mediaKey = regexp.MustCompile(`^media/[0-9a-f]{64}\.[a-z0-9]{1,8}$`)

// References knows which files are in use.
type References interface {
	// Unreferenced returns those of the keys that no message refers to.
	Unreferenced(ctx context.Context, keys []string) ([]string, error)
}

// Store stores the files. It is safe for concurrent use.
type Store struct {
	home       string
	references References
	transcribe Transcribe

	mu      sync.Mutex     // guards pending, and the removal of files; a leaf lock
	pending map[string]int // files that a message being processed will refer to, with their count
}

// New returns the store in a data folder. transcribe may be nil: then recordings are stored but not
// transcribed.
func New(home string, r References, transcribe Transcribe) *Store {
	return &Store{home: home, references: r, transcribe: transcribe, pending: make(map[string]int)}
}

func (s *Store) path(key string) string { return filepath.Join(s.home, filepath.FromSlash(key)) }

func (s *Store) smallPath(key string) string {
	return filepath.Join(s.home, "media", "fit", filepath.Base(key))
}

func (s *Store) read(key string) ([]byte, error) {
	if !mediaKey.MatchString(key) {
		return nil, protocol.ErrBadRequest.With("not a media key")
	}
	data, err := os.ReadFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, protocol.ErrNotFound.With("the file no longer exists")
	}
	return data, err
}

// Get returns a stored file.
func (s *Store) Get(key string) (protocol.MediaGetResult, error) {
	data, err := s.read(key)
	if err != nil {
		return protocol.MediaGetResult{}, err
	}
	return protocol.MediaGetResult{MimeType: http.DetectContentType(data), Data: base64.StdEncoding.EncodeToString(data)}, nil
}

// WithImages returns a copy of the messages in which the newest stored images have their data,
// reduced in size to what models accept.
func (s *Store) WithImages(msgs []protocol.Message) []protocol.Message {
	out := slices.Clone(msgs)
	number, total := 0, 0
	for i := len(out) - 1; i >= 0; i-- {
		var content protocol.Content
		for j, b := range out[i].Content {
			if b.Type != protocol.BlockImage || b.Data != "" || b.MediaKey == "" {
				continue
			}
			if content == nil {
				content = slices.Clone(out[i].Content)
			}
			if number >= maxPictures || total >= maxTotal {
				content[j] = protocol.Text("[an earlier image, which is not shown any more]")
				continue
			}
			data, err := s.small(b.MediaKey)
			if err != nil {
				content[j] = protocol.Text("[an image that cannot be shown: " + err.Error() + "]")
				continue
			}
			number++
			total += len(data)
			b.Data, b.MimeType = base64.StdEncoding.EncodeToString(data), http.DetectContentType(data)
			content[j] = b
		}
		if content != nil {
			out[i].Content = content
		}
	}
	return out
}

// small returns a stored picture in a form that models accept. A converted picture is cached beside
// the original.
func (s *Store) small(key string) ([]byte, error) {
	if data, err := os.ReadFile(s.smallPath(key)); err == nil {
		return data, nil
	}
	data, err := s.read(key)
	if err != nil {
		return nil, err
	}
	out, changed, err := fit(data)
	if err == nil && changed {
		err = disk.WriteBytes(s.smallPath(key), out)
	}
	return out, err
}

// RemoveUnused removes the files that no chat refers to.
func (s *Store) RemoveUnused(ctx context.Context) error {
	dir := filepath.Join(s.home, "media")
	list, err := disk.Names(dir)
	if err != nil {
		return err
	}
	var keys []string
	for _, name := range list {
		if key := "media/" + name; mediaKey.MatchString(key) {
			keys = append(keys, key)
		}
	}
	if keys, err = s.references.Unreferenced(ctx, keys); err != nil {
		return err
	}
	var errs []error
	for _, key := range keys {
		errs = append(errs, s.remove(ctx, key))
	}
	small, err := disk.Names(filepath.Join(dir, "fit"))
	for _, name := range small {
		if _, statErr := os.Stat(filepath.Join(dir, name)); errors.Is(statErr, fs.ErrNotExist) {
			errs = append(errs, os.Remove(s.smallPath(name)))
		}
	}
	return errors.Join(append(errs, err)...)
}

// remove removes a file, unless a message that is being processed or was stored meanwhile refers to
// it.
func (s *Store) remove(ctx context.Context, key string) error {
	s.mu.Lock() // an upload registers its file under this lock before it checks whether the file exists
	defer s.mu.Unlock()
	if s.pending[key] > 0 {
		return nil
	}
	unused, err := s.references.Unreferenced(ctx, []string{key})
	if err != nil || len(unused) == 0 {
		return err
	}
	return os.Remove(s.path(key))
}
