package browse

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// maxEdit is the size of the largest file that a person can edit, in bytes.
const maxEdit = 1_000_000

// byteOrderMark begins some UTF-8 files, mostly those of Windows programs.
var byteOrderMark = []byte("\xef\xbb\xbf")

func (b *Browser) read(_ context.Context, p protocol.FilesPathParams) (protocol.FilesReadResult, error) {
	at, err := b.ws.Resolve(p.Path)
	if err != nil {
		return protocol.FilesReadResult{}, err
	}
	data, sum, err := b.ws.ReadFile(at, maxEdit)
	if _, tooLarge := errors.AsType[*workspace.TooLargeError](err); tooLarge {
		return protocol.FilesReadResult{Why: "Only files of up to " + format.Size(maxEdit) + " can be edited here."}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return protocol.FilesReadResult{Sum: protocol.FileAbsent}, nil
	}
	if err != nil {
		return protocol.FilesReadResult{}, describe("read", at, err)
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return protocol.FilesReadResult{Why: "Only text files in UTF-8 can be edited here."}, nil
	}
	if err := b.ws.Writable(at); err != nil {
		return protocol.FilesReadResult{Why: format.Capital(err.Error()) + "."}, nil
	}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, byteOrderMark)), "\r\n", "\n")
	return protocol.FilesReadResult{Text: text, Sum: sum}, nil
}

func (b *Browser) write(ctx context.Context, p protocol.FilesWriteParams) (protocol.FilesWriteResult, error) {
	at, err := b.ws.Resolve(p.Path)
	if err != nil {
		return protocol.FilesWriteResult{}, err
	}
	unlock, err := b.ws.Lock(ctx, at)
	if err != nil {
		return protocol.FilesWriteResult{}, err
	}
	defer unlock()
	old, sum, err := b.ws.ReadFile(at, maxEdit)
	if errors.Is(err, fs.ErrNotExist) {
		sum, err = protocol.FileAbsent, nil
	}
	if _, tooLarge := errors.AsType[*workspace.TooLargeError](err); tooLarge || err == nil && sum != p.Sum {
		return protocol.FilesWriteResult{Changed: true}, nil
	}
	if err != nil {
		return protocol.FilesWriteResult{}, describe("read", at, err)
	}
	w, err := b.ws.Write(at, withForm(p.Text, old), sum, nil)
	if errors.Is(err, workspace.ErrChanged) {
		return protocol.FilesWriteResult{Changed: true}, nil
	}
	return protocol.FilesWriteResult{Sum: w.SHA256}, describe("write", at, err)
}

// withForm returns a text with the line ends and the byte order mark of a file's old content. A
// file with mixed line ends gets LF.
func withForm(text string, old []byte) []byte {
	if lines := bytes.Count(old, []byte("\n")); lines > 0 && bytes.Count(old, []byte("\r\n")) == lines {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if bytes.HasPrefix(old, byteOrderMark) {
		return append(bytes.Clone(byteOrderMark), text...)
	}
	return []byte(text)
}
