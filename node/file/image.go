package file

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

// mimeOf detects a file's type by its first bytes.
func mimeOf(head []byte) string {
	mime, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	return mime
}

// isText reports whether a file's first bytes look like text in an encoding of single bytes.
func isText(head []byte) bool {
	if textfile.DetectUTF16(head) != nil || bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for mime := mimetype.Detect(head); mime != nil; mime = mime.Parent() {
		if mime.Is("text/plain") {
			return true
		}
	}
	return false
}

func isImage(head []byte) bool { return strings.HasPrefix(mimeOf(head), "image/") }

// binary returns an image, or an error with the type of any other file.
func (t *tool) binary(p workspace.Path, file io.ReaderAt, head []byte, size int64) (any, error) {
	mime, name := mimeOf(head), workspace.Spell(filepath.Base(p.Abs))
	switch {
	case isText(head):
		return nil, toolkit.Failf("Not UTF-8 text: %s (%s, %d bytes) has another encoding, perhaps Latin-1. "+
			"Convert it with Bash, such as: iconv -f LATIN1 -t UTF-8 FILE", name, mime, size)
	case strings.HasPrefix(mime, "text/"): // such as a byte order mark before binary data
		mime = "application/octet-stream"
	}
	if !strings.HasPrefix(mime, "image/") {
		return nil, toolkit.Failf("Binary file: %s (%s, %d bytes) — not a text or image file", name, mime, size)
	}
	most := t.limits.readImage
	tooLarge := toolkit.Failf("Image file too large (%.1f MB, max %.1f MB): %s", float64(size)/(1<<20), float64(most)/(1<<20), name)
	if size > most {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.NewSectionReader(file, 0, most+1))
	if err != nil {
		return nil, access.ReadError(p, err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge
	}
	return readImage{protocol.Content{
		protocol.Text(fmt.Sprintf("Image file: %s (%s, %d bytes)", name, mime, len(data))),
		{Type: protocol.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: mime},
	}}, nil
}
