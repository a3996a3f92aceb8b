package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"fairlead/gateway/protocol"
)

// Transcribe turns speech into text. An error that is a *protocol.Error says what the person can do.
type Transcribe func(ctx context.Context, name, mimeType string, data []byte) (string, error)

// audioType is the type of a recording. What servers and programs call one differs, and some have the same form as a film.
func audioType(declared string, data []byte) (kind string, ok bool) {
	kind = http.DetectContentType(data)
	declared, _, _ = strings.Cut(strings.ToLower(declared), ";")
	declared = strings.TrimSpace(declared)
	switch {
	case strings.HasPrefix(kind, "audio/") || kind == "application/ogg":
		return kind, true
	case !strings.HasPrefix(declared, "audio/"):
		return "", false
	case kind == "video/mp4":
		return "audio/mp4", true
	case kind == "video/webm":
		return "audio/webm", true
	case len(data) > 3 && string(data[:4]) == "fLaC":
		return "audio/flac", true
	case len(data) > 1 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		return "audio/mpeg", true // without a tag in front
	}
	return "", false
}

// heard is what the model reads in place of a recording.
func (m *Manager) heard(ctx context.Context, name, kind string, data []byte) string {
	what := strings.TrimSpace("a recording " + name)
	if m.opts.Transcribe == nil {
		return fmt.Sprintf("[%s, which nothing here can transcribe]", what)
	}
	text, err := m.opts.Transcribe(ctx, name, kind, data)
	var known *protocol.Error
	switch text = strings.TrimSpace(text); {
	case errors.As(err, &known):
		return fmt.Sprintf("[%s, which was not transcribed: %s]", what, known.Message)
	case err != nil:
		slog.Warn("A recording was not transcribed", "err", err)
		return fmt.Sprintf("[%s, which was not transcribed]", what)
	case text == "":
		return fmt.Sprintf("[%s, in which nothing is said]", what)
	}
	return fmt.Sprintf("[%s, transcribed]\n%s", what, text)
}
