package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/speech"
)

// maxImage limits the size of an image in bytes; the tool Read has the same limit. maxAudio limits
// a recording.
const (
	maxImage = 10 << 20
	maxAudio = 25 << 20
)

var mediaKey = regexp.MustCompile(`^media/[0-9a-f]{64}\.[a-z0-9]{1,8}$`)

// endings maps a file's type to its extension; other types get .bin.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
	"audio/mpeg": ".mp3", "audio/wave": ".wav", "application/ogg": ".ogg", "audio/ogg": ".ogg", "audio/mp4": ".m4a", "audio/webm": ".webm", "audio/flac": ".flac", "audio/aiff": ".aiff",
}

// keeper stores files in media/ for one message and protects them from removal until release,
// although no message refers to them yet.
type keeper struct {
	m    *Manager
	keys []string
}

func (k *keeper) release() {
	k.m.media.Lock()
	defer k.m.media.Unlock()
	for _, key := range k.keys {
		if k.m.kept[key]--; k.m.kept[key] == 0 {
			delete(k.m.kept, key)
		}
	}
	k.keys = nil
}

// attachments stores the files that a person sent and returns them as blocks: images, and
// recordings with their transcripts.
func (k *keeper) attachments(ctx context.Context, list []protocol.Attachment) (protocol.Content, error) {
	var out protocol.Content
	for _, a := range list {
		data, err := base64.StdEncoding.DecodeString(a.Data)
		if err != nil {
			return nil, protocol.ErrBadRequest.With("an attachment is not valid base64")
		}
		b := protocol.Block{Type: protocol.BlockImage, MimeType: a.MimeType, Filename: a.Filename}
		kind, isAudio := speech.Type(a.MimeType, data)
		if !isAudio {
			b, err = k.image(b, data)
		} else if len(data) > maxAudio {
			err = tooLarge(a.Filename, len(data), "recordings", maxAudio)
		} else {
			b.Type, b.MimeType = protocol.BlockText, kind
			if b.MediaKey, err = k.file(data, kind); err == nil {
				b.Text = k.m.heard(ctx, a.Filename, kind, data)
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
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MB; %s may have %d MB", name, float64(size)/(1<<20), what, limit>>20))
}

// images moves the image data of a content to the media folder.
func (k *keeper) images(c protocol.Content) protocol.Content {
	if !slices.ContainsFunc(c, func(b protocol.Block) bool { return b.Type == protocol.BlockImage && b.Data != "" }) {
		return c
	}
	out := slices.Clone(c)
	for i, b := range out {
		if b.Type == protocol.BlockImage && b.Data != "" {
			data, err := base64.StdEncoding.DecodeString(b.Data)
			if err == nil {
				out[i], err = k.image(b, data)
			}
			if err != nil {
				out[i] = protocol.Text("[an image that could not be kept: " + err.Error() + "]")
			}
		}
	}
	return out
}

func (k *keeper) image(b protocol.Block, data []byte) (protocol.Block, error) {
	name := cmp.Or(b.Filename, "The attachment")
	if len(data) > maxImage {
		return b, tooLarge(name, len(data), "images", maxImage)
	}
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return b, protocol.ErrBadRequest.With(fmt.Sprintf("%s is not an image that models can see", name))
	}
	key, err := k.file(data, kind)
	b.Data, b.MimeType, b.MediaKey = "", kind, key
	return b, err
}

// file writes a file under a name derived from its content.
func (k *keeper) file(data []byte, kind string) (key string, err error) {
	ext := endings[kind]
	if ext == "" {
		ext = ".bin"
	}
	sum := sha256.Sum256(data)
	key = "media/" + hex.EncodeToString(sum[:]) + ext
	k.m.media.Lock()
	k.m.kept[key]++
	k.keys = append(k.keys, key)
	k.m.media.Unlock()
	path := filepath.Join(k.m.opts.Home, filepath.FromSlash(key))
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	_, err = writeWith(path, func(w io.Writer) error { _, err := w.Write(data); return err })
	return key, err
}

// loadImages returns a copy of the messages in which the newest stored images have their data,
// reduced in size to what models accept.
func (m *Manager) loadImages(msgs []protocol.Message) []protocol.Message {
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
			data, err := m.fitting(b.MediaKey)
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

// fitting returns a stored picture in a form that models accept. A converted picture is cached
// beside the original.
func (m *Manager) fitting(key string) ([]byte, error) {
	small := filepath.Join(m.opts.Home, "media", "fit", filepath.Base(key))
	if data, err := os.ReadFile(small); err == nil {
		return data, nil
	}
	data, err := m.readMedia(key)
	if err != nil {
		return nil, err
	}
	out, changed, err := fit(data)
	if err == nil && changed {
		_, err = writeWith(small, func(w io.Writer) error { _, err := w.Write(out); return err })
	}
	return out, err
}

func (m *Manager) readMedia(key string) ([]byte, error) {
	if !mediaKey.MatchString(key) {
		return nil, protocol.ErrBadRequest.With("not a media key")
	}
	data, err := os.ReadFile(filepath.Join(m.opts.Home, filepath.FromSlash(key)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, protocol.ErrNotFound.With("the file is no longer there")
	}
	return data, err
}

// Media returns a stored file.
func (m *Manager) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	data, err := m.readMedia(in.Key)
	if err != nil {
		return protocol.MediaGetResult{}, err
	}
	return protocol.MediaGetResult{MimeType: http.DetectContentType(data), Data: base64.StdEncoding.EncodeToString(data)}, nil
}
