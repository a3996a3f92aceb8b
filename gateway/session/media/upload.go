package media

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/protocol"
	"fairlead/gateway/speech"
)

// maxImage and maxAudio limit the size of a file in bytes. The tool Read has the same limit for
// images.
const (
	maxImage = 10 << 20
	maxAudio = 25 << 20
)

// extensions maps an image's type to its extension.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
}

// Upload stores the files of one message and protects them from removal until Close.
type Upload struct {
	s    *Store
	keys []string
}

// Upload begins to store the files of one message.
func (s *Store) Upload() *Upload { return &Upload{s: s} }

// Close ends the protection of the files. The message must have been stored.
func (u *Upload) Close() {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	for _, key := range u.keys {
		if u.s.pending[key]--; u.s.pending[key] == 0 {
			delete(u.s.pending, key)
		}
	}
	u.keys = nil
}

// Attachments stores the files that a person sent and returns them as blocks.
func (u *Upload) Attachments(ctx context.Context, list []protocol.Attachment) (protocol.Content, error) {
	var out protocol.Content
	for _, a := range list {
		data, err := base64.StdEncoding.DecodeString(a.Data)
		if err != nil {
			return nil, protocol.ErrBadRequest.With("an attachment is not valid base64")
		}
		b := protocol.Block{Type: protocol.BlockImage, MimeType: a.MimeType, Filename: a.Filename}
		kind, isAudio := speech.Type(a.MimeType, data)
		if !isAudio {
			b, err = u.image(b, data)
		} else if len(data) > maxAudio {
			err = tooLarge(a.Filename, len(data), "recordings", maxAudio)
		} else {
			b.Type, b.MimeType = protocol.BlockText, kind
			if b.MediaKey, err = u.write(data, kind); err == nil {
				b.Text = u.s.transcript(ctx, a.Filename, kind, data)
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func tooLarge(name string, size int, what string, limit int) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MB; %s may have at most %d MB", name, float64(size)/(1<<20), what, limit>>20))
}

// Images moves the image data of a content to files.
func (u *Upload) Images(c protocol.Content) protocol.Content {
	out := slices.Clone(c)
	for i, b := range out {
		if b.Type != protocol.BlockImage || b.Data == "" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if err == nil {
			out[i], err = u.image(b, data)
		}
		if err != nil {
			out[i] = protocol.Text("[an image that could not be stored: " + err.Error() + "]")
		}
	}
	return out
}

func (u *Upload) image(b protocol.Block, data []byte) (protocol.Block, error) {
	name := cmp.Or(b.Filename, "The attachment")
	if len(data) > maxImage {
		return b, tooLarge(name, len(data), "images", maxImage)
	}
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return b, protocol.ErrBadRequest.With(fmt.Sprintf("%s is not an image that models can see", name))
	}
	key, err := u.write(data, kind)
	b.Data, b.MimeType, b.MediaKey = "", kind, key
	return b, err
}

// write writes a file under a name derived from its content.
func (u *Upload) write(data []byte, kind string) (key string, err error) {
	sum := sha256.Sum256(data)
	key = "media/" + hex.EncodeToString(sum[:]) + cmp.Or(extensions[kind], speech.Extensions[kind], ".bin")
	u.s.mu.Lock()
	u.s.pending[key]++
	u.keys = append(u.keys, key)
	u.s.mu.Unlock()
	if _, err := os.Stat(u.s.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	return key, atomicfile.Write(u.s.path(key), data, 0o600)
}
