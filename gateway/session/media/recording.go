package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/protocol"
)

// Transcribe converts speech to text. Errors for the person are of type *protocol.Error.
type Transcribe func(ctx context.Context, name, mimeType string, data []byte) (string, error)

// transcript returns the text that the model reads in place of a recording.
func (s *Store) transcript(ctx context.Context, name, kind string, data []byte) string {
	what := strings.TrimSpace("a recording " + name)
	if s.transcribe == nil {
		return fmt.Sprintf("[%s, which nothing here can transcribe]", what)
	}
	text, err := s.transcribe(ctx, name, kind, data)
	var known *protocol.Error
	switch text = strings.TrimSpace(text); {
	case errors.As(err, &known):
		return fmt.Sprintf("[%s, which was not transcribed: %s]", what, known.Message)
	case err != nil:
		slog.Warn("A recording could not be transcribed", "err", err)
		return fmt.Sprintf("[%s, which was not transcribed]", what)
	case text == "":
		return fmt.Sprintf("[%s, in which nothing is said]", what)
	}
	return fmt.Sprintf("[%s, transcribed]\n%s", what, text)
}
