package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/protocol"
)

// Transcribe turns speech into text. An error that is a *protocol.Error says what the person can do.
type Transcribe func(ctx context.Context, name, mimeType string, data []byte) (string, error)

// heard is what the model reads in place of a recording. Who sent it may leave meanwhile: their message is taken all the same, and they will not send it
// once more.
func (m *Manager) heard(ctx context.Context, name, kind string, data []byte) string {
	what := strings.TrimSpace("a recording " + name)
	if m.opts.Transcribe == nil {
		return fmt.Sprintf("[%s, which nothing here can transcribe]", what)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
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
