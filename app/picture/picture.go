// Package picture reads pictures for messages: from files and from the clipboard.
package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fairlead/app/system"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// clipboardTimeout is the time limit of the system's program that reads the clipboard.
const clipboardTimeout = 5 * time.Second

// errNoPicture is shown when the clipboard has no picture.
var errNoPicture = errors.New("the clipboard does not contain a picture")

// CanPaste reports whether this computer has the program that reads the clipboard's picture. The
// toolkit can read text only.
func CanPaste() bool {
	_, err := exec.LookPath(pasteCommand()[0])
	return err == nil
}

// Paste returns the clipboard's picture. It blocks.
func Paste(ctx context.Context) (protocol.Attachment, error) {
	ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
	defer cancel()
	command := pasteCommand()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	hideConsole(cmd)
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		return protocol.Attachment{}, errNoPicture
	}
	data, err := decodePicture(out)
	if err != nil {
		return protocol.Attachment{}, err
	}
	return attachment("pasted.png", data)
}

var pngMagic = []byte("\x89PNG\r\n\x1a\n")

// decodePicture extracts the picture from the output of such a program: raw bytes, base64
// (PowerShell), or the AppleScript notation «data PNGf89504E47…».
func decodePicture(out []byte) ([]byte, error) {
	if !bytes.HasPrefix(out, pngMagic) {
		text, decode := bytes.TrimSpace(out), base64.StdEncoding.AppendDecode
		if digits, ok := bytes.CutPrefix(text, []byte("«data PNGf")); ok {
			text, decode = bytes.TrimSuffix(digits, []byte("»")), hex.AppendDecode
		}
		var err error
		if out, err = decode(nil, text); err != nil {
			return nil, errNoPicture
		}
	}
	switch {
	case !bytes.HasPrefix(out, pngMagic):
		return nil, errNoPicture
	case len(out) > MaxSize:
		return nil, errors.New("the picture is larger than 10 MB")
	}
	return out, nil
}

// MaxSize is the largest picture that can be attached to a message, in bytes.
const MaxSize = 10_000_000

// Read reads a picture for a message. It blocks on the disk.
func Read(path string) (protocol.Attachment, error) {
	info, err := os.Stat(path)
	if err != nil {
		return protocol.Attachment{}, fmt.Errorf("%s cannot be attached: %w", filepath.Base(path), system.FileProblem(err))
	}
	if info.Size() > MaxSize {
		return protocol.Attachment{}, fmt.Errorf("%s has %s; pictures can have up to 10 MB", filepath.Base(path), format.Size(info.Size()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return protocol.Attachment{}, fmt.Errorf("%s cannot be attached: %w", filepath.Base(path), system.FileProblem(err))
	}
	return attachment(filepath.Base(path), data)
}

// Separate separates pictures that can be attached from other files and folders. It blocks on the disk.
func Separate(paths []string) (pictures, others []string) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			if _, err := Read(p); err == nil {
				pictures = append(pictures, p)
				continue
			}
		}
		others = append(others, p)
	}
	return pictures, others
}

func attachment(name string, data []byte) (protocol.Attachment, error) {
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return protocol.Attachment{}, fmt.Errorf("%s is not a picture", name)
	}
	return protocol.Attachment{Filename: name, MimeType: kind, Data: base64.StdEncoding.EncodeToString(data)}, nil
}
