package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os/exec"
	"time"

	"fairlead/app/bind"
	"fairlead/gateway/protocol"
)

// clipboardTime is how long the system's own program may take for a picture.
const clipboardTime = 5 * time.Second

// errNoPicture says what a person sees who pastes something else.
var errNoPicture = errors.New("the clipboard holds no picture")

// pasteImage takes a picture from the clipboard, which the toolkit cannot: through the system's own small programs. It is nil where there
// are none.
func pasteImage(s *shell) func(done func(protocol.Attachment, error)) {
	command := pasteCommand()
	if len(command) == 0 {
		return nil
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil
	}
	return func(done func(protocol.Attachment, error)) {
		bind.Go(s.ctx, func(ctx context.Context) (protocol.Attachment, error) {
			ctx, cancel := context.WithTimeout(ctx, clipboardTime)
			defer cancel()
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			hideConsole(cmd)
			out, err := cmd.Output()
			if err != nil || len(out) == 0 {
				return protocol.Attachment{}, errNoPicture
			}
			data, err := pasted(out)
			if err != nil {
				return protocol.Attachment{}, err
			}
			return attachment("pasted.png", data)
		}, done)
	}
}

var pngMagic = []byte("\x89PNG\r\n\x1a\n")

// pasted takes the picture out of what a program printed: the picture itself, its bytes in base64 (PowerShell), or as AppleScript shows data,
// «data PNGf89504E47…».
func pasted(out []byte) ([]byte, error) {
	if !bytes.HasPrefix(out, pngMagic) {
		out = bytes.TrimSpace(out)
		if digits, ok := bytes.CutPrefix(out, []byte("«data PNGf")); ok {
			digits = bytes.TrimSuffix(digits, []byte("»"))
			data, err := hex.AppendDecode(nil, digits)
			if err != nil {
				return nil, errNoPicture
			}
			out = data
		} else {
			data, err := base64.StdEncoding.AppendDecode(nil, out)
			if err != nil {
				return nil, errNoPicture
			}
			out = data
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
