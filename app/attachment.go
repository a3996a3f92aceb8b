package app

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/protocol"
)

// maxAttachment is the largest picture that can be attached to a message, in bytes. The Read tool
// of the original system has the same limit.
const maxAttachment = 10 << 20

// readAttachment reads a picture for a message. It blocks on the disk.
func readAttachment(path string) (protocol.Attachment, error) {
	info, err := os.Stat(path)
	if err != nil {
		return protocol.Attachment{}, err
	}
	if info.Size() > maxAttachment {
		return protocol.Attachment{}, fmt.Errorf("%s is %.1f MB; pictures can be up to 10 MB", filepath.Base(path), float64(info.Size())/(1<<20))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return protocol.Attachment{}, err
	}
	return attachment(filepath.Base(path), data)
}

func attachment(name string, data []byte) (protocol.Attachment, error) {
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return protocol.Attachment{}, fmt.Errorf("%s is not a picture", name)
	}
	return protocol.Attachment{Filename: name, MimeType: kind, Data: base64.StdEncoding.EncodeToString(data)}, nil
}
