package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// maxImage is how many bytes an image may have (seed 000 has the same cap for Read).
const maxImage = 10 << 20

var mediaKey = regexp.MustCompile(`^media/[0-9a-f]{64}\.[a-z0-9]{1,8}$`)

// storeImages keeps attachments and returns them as blocks.
func (m *Manager) storeImages(list []protocol.Attachment) (protocol.Content, error) {
	var out protocol.Content
	for _, a := range list {
		b, err := m.keepImage(protocol.Block{Type: protocol.BlockImage, Data: a.Data, MimeType: a.MimeType, Filename: a.Filename})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// keepImages moves image data out of a content into the media folder.
func (m *Manager) keepImages(c protocol.Content) (protocol.Content, error) {
	if !slices.ContainsFunc(c, func(b protocol.Block) bool { return b.Type == protocol.BlockImage && b.Data != "" }) {
		return c, nil
	}
	out := slices.Clone(c)
	for i, b := range out {
		if b.Type == protocol.BlockImage && b.Data != "" {
			kept, err := m.keepImage(b)
			if err != nil {
				out[i] = protocol.Text("[an image that could not be kept: " + err.Error() + "]")
				continue
			}
			out[i] = kept
		}
	}
	return out, nil
}

// keepImage writes an image to a file that is named by its content.
func (m *Manager) keepImage(b protocol.Block) (protocol.Block, error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return b, protocol.ErrBadRequest.With("an attachment is not valid base64")
	}
	if len(data) > maxImage {
		return b, protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MB; images may have 10 MB", b.Filename, float64(len(data))/(1<<20)))
	}
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return b, protocol.ErrBadRequest.With(fmt.Sprintf("%s is not an image that models can see", b.Filename))
	}
	ext := ".img"
	if list, err := mime.ExtensionsByType(kind); err == nil && len(list) > 0 {
		ext = list[0]
	}
	sum := sha256.Sum256(data)
	key := "media/" + hex.EncodeToString(sum[:]) + ext
	path := filepath.Join(m.opts.Home, filepath.FromSlash(key))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writeFile(path, data); err != nil {
			return b, err
		}
	}
	b.Data, b.MimeType, b.MediaKey = "", kind, key
	return b, nil
}

// writeFile writes a file whole or not at all.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// loadImages puts the data of stored images into a copy of the messages.
func (m *Manager) loadImages(msgs []protocol.Message) []protocol.Message {
	out := slices.Clone(msgs)
	for i, msg := range out {
		for j, b := range msg.Content {
			if b.Type != protocol.BlockImage || b.Data != "" || b.MediaKey == "" {
				continue
			}
			content := slices.Clone(out[i].Content)
			if data, err := m.readMedia(b.MediaKey); err != nil {
				content[j] = protocol.Text("[an image that is no longer there]")
			} else {
				b.Data = base64.StdEncoding.EncodeToString(data)
				content[j] = b
			}
			out[i].Content = content
		}
	}
	return out
}

func (m *Manager) readMedia(key string) ([]byte, error) {
	if !mediaKey.MatchString(key) {
		return nil, protocol.ErrBadRequest.With("not a media key")
	}
	data, err := os.ReadFile(filepath.Join(m.opts.Home, filepath.FromSlash(key)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, protocol.ErrNotFound.With("the image is no longer there")
	}
	return data, err
}

// Media returns a stored image.
func (m *Manager) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	data, err := m.readMedia(in.Key)
	if err != nil {
		return protocol.MediaGetResult{}, err
	}
	return protocol.MediaGetResult{MimeType: http.DetectContentType(data), Data: base64.StdEncoding.EncodeToString(data)}, nil
}
