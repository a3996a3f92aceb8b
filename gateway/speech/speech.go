// Package speech transcribes recordings with a server that has an OpenAI-compatible API (POST
// audio/transcriptions): OpenAI itself, Groq, or whisper.cpp, faster-whisper and LocalAI on a
// machine of one's own.
package speech

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

const (
	defaultURL   = "https://api.openai.com/v1"
	defaultModel = "whisper-1" // every such server has it
	timeout      = 2 * time.Minute
)

// Server is a transcription server.
type Server struct {
	BaseURL string // with /v1; empty means OpenAI's own address
	Key     string // may be empty for a server of one's own
	Model   string // empty means whisper-1
}

// Transcribe returns the text of a recording. Errors that the person can fix are a *protocol.Error.
func (s Server) Transcribe(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, kind, err := multipartForm(name, mimeType, s.Model, data)
	if err != nil {
		return "", fmt.Errorf("transcribe: %w", err)
	}
	base := cmp.Or(s.BaseURL, defaultURL)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+"/audio/transcriptions", body)
	if err != nil {
		return "", protocol.ErrBadRequest.With("The transcription address is invalid: " + base)
	}
	req.Header.Set("Content-Type", kind)
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	res, err := http.DefaultClient.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return "", protocol.ErrTimeout.With("The transcription server did not answer in time.")
	}
	if err != nil {
		return "", protocol.ErrModel.With("The transcription server cannot be reached: " + base)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return "", fmt.Errorf("transcribe: %w", err)
	}
	return parseResponse(res.StatusCode, answer)
}

func multipartForm(name, mimeType, model string, data []byte) (io.Reader, string, error) {
	if name = path.Base(strings.ReplaceAll(name, `\`, "/")); name == "." || name == "/" || !strings.Contains(name, ".") {
		// servers detect the format of a recording by its extension
		name = "recording" + cmp.Or(Extensions[mimeType], ".ogg")
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition("file", name))
	h.Set("Content-Type", mimeType)
	part, err := w.CreatePart(h)
	if err == nil {
		_, err = part.Write(data)
	}
	model = cmp.Or(model, defaultModel)
	err = errors.Join(err, w.WriteField("model", model), w.WriteField("response_format", "json"), w.Close())
	return &b, w.FormDataContentType(), err
}

// Extensions maps the types of recordings to the extensions of their files.
var Extensions = map[string]string{
	"audio/mpeg": ".mp3", "audio/wave": ".wav", "audio/wav": ".wav", "application/ogg": ".ogg", "audio/ogg": ".ogg",
	"audio/mp4": ".m4a", "audio/webm": ".webm", "audio/flac": ".flac", "audio/aiff": ".aiff",
}

// parseResponse parses a response. Of an error response, it returns only error.message.
func parseResponse(status int, body []byte) (string, error) {
	var answer struct {
		Text  *string         `json:"text"`
		Error json.RawMessage `json:"error"`
	}
	parseErr := json.Unmarshal(body, &answer)
	switch {
	case status == http.StatusOK && parseErr != nil:
		return "", protocol.ErrModel.With("The transcription server sent a response that is not JSON.")
	case status == http.StatusOK && answer.Text != nil:
		return strings.TrimSpace(*answer.Text), nil
	}
	var why struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer.Error, &why) != nil {
		json.Unmarshal(answer.Error, &why.Message)
	}
	text := strings.TrimSpace(fmt.Sprintf("The transcription server answered %d. %.300s", status, why.Message))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "", protocol.ErrModelAuth.With(text + " Check its API key.")
	case http.StatusTooManyRequests:
		return "", protocol.ErrModelRateLimit.With(text)
	}
	return "", protocol.ErrModel.With(text)
}

// Transcriber transcribes recordings with the server in the settings.
type Transcriber struct{ Config *config.Store }

// Transcribe returns the text of a recording. OpenAI's key is sent to OpenAI's address only; the
// key of another server is named "transcription".
func (t Transcriber) Transcribe(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	cfg := t.Config.Get()
	if cfg.Transcription.Provider != "openai" {
		return "", protocol.ErrUnavailable.With("No transcription server is set up: set transcription.provider to openai, and a key or transcription.baseUrl.")
	}
	s := Server{BaseURL: cfg.Transcription.BaseURL, Model: cfg.Transcription.Model}
	keyName := "apiKeys.transcription"
	if s.BaseURL == "" {
		s.BaseURL, keyName = cfg.Providers["openai"].BaseURL, "apiKeys.openai"
	}
	s.Key, _ = t.Config.Secret(keyName)
	if s.BaseURL == "" && s.Key == "" {
		return "", protocol.ErrModelAuth.With("Transcription needs a key: set " + keyName + ".")
	}
	text, err := s.Transcribe(ctx, name, mimeType, data)
	return text, keychain.Hide(err, s.Key)
}

// Type returns the MIME type of a recording; ok is false for other data. Servers and programs use
// different names for one type, and some formats are also used for video.
func Type(declared string, data []byte) (kind string, ok bool) {
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
		return "audio/mpeg", true // without a leading tag
	}
	return "", false
}
