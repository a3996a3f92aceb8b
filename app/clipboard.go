package app

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

	"fairlead/app/bind"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// clipboardTimeout is the time limit of the system's program that reads the clipboard.
const clipboardTimeout = 5 * time.Second

// errNoPicture is shown when the clipboard has no picture.
var errNoPicture = errors.New("the clipboard does not contain a picture")

// pasteImage returns a reader of pictures, or nil. Fyne can read text only; a program helps.
func pasteImage(u *ui) func(done func(protocol.Attachment, error)) {
	command := pasteCommand()
	if len(command) == 0 {
		return nil
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil
	}
	return func(done func(protocol.Attachment, error)) {
		bind.Go(u.ctx, func(ctx context.Context) (protocol.Attachment, error) {
			ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
			defer cancel()
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
		}, done)
	}
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
	case len(out) > maxAttachment:
		return nil, errors.New("the picture is larger than 10 MB")
	}
	return out, nil
}

// maxAttachment is the largest picture that can be attached to a message, in bytes.
const maxAttachment = 10_000_000

// readAttachment reads a picture for a message. It blocks on the disk.
func readAttachment(path string) (protocol.Attachment, error) {
	info, err := os.Stat(path)
	if err != nil {
		return protocol.Attachment{}, fmt.Errorf("%s cannot be attached: %w", filepath.Base(path), fileProblem(err))
	}
	if info.Size() > maxAttachment {
		return protocol.Attachment{}, fmt.Errorf("%s has %s; pictures can have up to 10 MB", filepath.Base(path), format.Size(info.Size()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return protocol.Attachment{}, fmt.Errorf("%s cannot be attached: %w", filepath.Base(path), fileProblem(err))
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
