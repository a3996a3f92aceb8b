// Package media stores the pictures and recordings of chats in media/ of the data folder, each
// under a name derived from its content.
package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/picture"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var mediaKey = regexp.MustCompile(`^media/[0-9a-f]{64}\.[a-z0-9]{1,8}$`)

// Store stores the files. It is safe for concurrent use.
type Store struct {
	home       string
	references *store.Media // knows which files are in use
	transcribe Transcribe

	mu      sync.Mutex     // guards pending, and the removal of files; a leaf lock
	pending map[string]int // files that a message being processed will refer to, with their count
}

// New returns the store in a data folder. Without transcribe, recordings are stored only.
func New(home string, r *store.Media, transcribe Transcribe) *Store {
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

// WithImages returns copies of the messages in which the newest stored images have their data, in a
// size that models accept.
func (s *Store) WithImages(msgs []protocol.Message) []protocol.Message {
	out := slices.Clone(msgs)
	number, total := 0, 0
	for i := len(out) - 1; i >= 0; i-- {
		content := slices.Clone(out[i].Content)
		for j, b := range out[i].Content {
			if b.Type != protocol.BlockImage || b.Data != "" || b.MediaKey == "" {
				continue
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
		out[i].Content = content
	}
	return out
}

// small returns a stored picture in a form that models accept. A converted picture is cached.
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
		err = atomicfile.Write(s.smallPath(key), out, 0o600)
	}
	return out, err
}

// RemoveUnused removes the files that no chat refers to.
func (s *Store) RemoveUnused(ctx context.Context) error {
	home := os.DirFS(s.home)
	keys, err := fs.Glob(home, "media/*")
	if err == nil {
		keys = slices.DeleteFunc(keys, func(key string) bool { return !mediaKey.MatchString(key) })
		keys, err = s.references.Unreferenced(ctx, keys)
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, key := range keys {
		errs = append(errs, s.remove(ctx, key))
	}
	small, err := fs.Glob(home, "media/fit/*")
	for _, name := range small {
		if _, statErr := os.Stat(s.path("media/" + path.Base(name))); errors.Is(statErr, fs.ErrNotExist) {
			errs = append(errs, os.Remove(s.smallPath(name)))
		}
	}
	return errors.Join(append(errs, err)...)
}

// remove removes a file, unless a message that was stored meanwhile refers to it.
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

// Limits that every provider accepts. Anthropic is the strictest.
const (
	maxSide     = 2000
	smallSide   = 1568 // longest side of a reduced picture; providers reduce to this size themselves
	maxPicture  = 3_700_000
	maxPictures = 20         // the newest pictures of a conversation
	maxTotal    = 14_000_000 // bytes of all pictures together
)

var formatsOfModels = map[string]bool{"jpeg": true, "png": true, "gif": true, "webp": true}

// fit returns a picture that models accept: data itself, or a converted one.
func fit(data []byte) (out []byte, changed bool, err error) {
	cfg, format, err := picture.Config(data)
	if err != nil {
		return nil, false, err
	}
	if formatsOfModels[format] && cfg.Width <= maxSide && cfg.Height <= maxSide && len(data) <= maxPicture {
		return data, false, nil
	}
	src, err := picture.Open(data)
	if err != nil {
		return nil, false, err
	}
	for side := smallSide; ; side = side * 3 / 4 {
		out, err = encode(src.Fit(side))
		if err != nil || len(out) <= maxPicture || side < 200 {
			return out, true, err
		}
	}
}

// encode encodes photographs as JPEG, and pictures with transparency as PNG.
func encode(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	if !img.Opaque() {
		err := png.Encode(&b, img)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}

// Transcribe converts speech to text. Errors for the person are of type *protocol.Error.
type Transcribe func(ctx context.Context, name, mimeType string, data []byte) (string, error)

// transcript returns the text that the model reads in place of a recording.
func (s *Store) transcript(ctx context.Context, name, kind string, data []byte) string {
	what := strings.TrimSpace("a recording " + name)
	if s.transcribe == nil {
		return fmt.Sprintf("[%s, which nothing here can transcribe]", what)
	}
	text, err := s.transcribe(ctx, name, kind, data)
	var known *protocol.Error
	text = strings.TrimSpace(text)
	switch {
	case errors.As(err, &known):
		return fmt.Sprintf("[%s, which was not transcribed: %s]", what, known.Message)
	case err != nil:
		slog.Warn("A recording could not be transcribed", "err", err)
		return fmt.Sprintf("[%s, which was not transcribed]", what)
	case text == "":
		return fmt.Sprintf("[%s, in which nothing is said]", what)
	}
	return fmt.Sprintf("[%s, transcribed]\n%s", what, text)
}
