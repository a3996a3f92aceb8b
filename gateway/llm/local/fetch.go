package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"fairlead/gateway/llm/detect"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// partial ends the name of a file that is not complete, or not checked yet.
const partial = ".part"

// stallLimit is how long a download may bring nothing.
const stallLimit = time.Minute

var errStalled = fmt.Errorf("nothing arrived for %d seconds; try again", int(stallLimit.Seconds()))

// body is an answer that fails when nothing arrives for stallLimit.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// open sends a request. The caller closes the answer.
func (m *Models) open(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := m.http.Do(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("%s cannot be reached: %w", req.URL.Host, errors.Unwrap(err))
	}
	resp.Body = &body{resp.Body, ctx, cancel, crash.AfterFunc(stallLimit, func() { cancel(errStalled) })}
	return resp, nil
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(stallLimit)
	if err != nil && !errors.Is(err, io.EOF) && context.Cause(b.ctx) != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// pullOllama makes Ollama download a model. Ollama itself resumes what it has.
func (m *Models) pullOllama(ctx context.Context, p *pull, e entry) error {
	_, address, _ := m.o.Settings.Provider(Ollama)
	if address == "" {
		address = "http://" + detect.Addresses()[0] // of OLLAMA_HOST, or the usual one
	}
	ask, err := json.Marshal(map[string]any{"model": e.Ollama, "stream": true})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(address, "/")+"/api/pull", bytes.NewReader(ask))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.open(req)
	if err != nil {
		return fmt.Errorf("%w. Is Ollama running?", err)
	}
	defer resp.Body.Close()
	return m.followOllama(p, resp)
}

// followOllama reads the progress of a download: a line of JSON for each step. Each layer of the
// model has its own size.
func (m *Models) followOllama(p *pull, resp *http.Response) error {
	type layer struct{ done, total int64 }
	layers := map[string]layer{}
	lines := json.NewDecoder(resp.Body)
	for {
		var line struct {
			Status, Digest, Error string
			Total, Completed      int64
		}
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return errors.New("Ollama ended the download early; try again")
		case err != nil && resp.StatusCode != http.StatusOK:
			return fmt.Errorf("Ollama answered %s", resp.Status)
		case err != nil:
			return fmt.Errorf("read Ollama's answer: %w", err)
		case line.Error != "":
			return fmt.Errorf("Ollama: %s", line.Error)
		case line.Status == "success":
			return nil
		}
		if line.Digest == "" {
			continue
		}
		layers[line.Digest] = layer{line.Completed, line.Total}
		var sum layer
		for _, l := range layers {
			sum.done, sum.total = sum.done+l.done, sum.total+l.total
		}
		m.progress(p, sum.done, sum.total)
	}
}

// pullFile downloads a GGUF file from the mirror, from where an earlier download ended. The file gets
// its name when its checksum is right.
func (m *Models) pullFile(ctx context.Context, p *pull, e entry) error {
	if err := os.MkdirAll(m.o.Folder, 0o700); err != nil {
		return fmt.Errorf("make the folder for models: %w", err)
	}
	name := m.path(e)
	if _, err := os.Stat(name); err == nil {
		m.progress(p, e.FileBytes, e.FileBytes)
		return nil
	}
	f, err := os.OpenFile(name+partial, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the file: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	have, err := io.Copy(sum, f) // what is there counts, wherever it came from: the whole is checked
	if err != nil {
		return fmt.Errorf("read the partial file: %w", err)
	}
	if have < e.FileBytes {
		if err := m.fetch(ctx, p, e, f, sum, have); err != nil {
			return err
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != e.SHA256 {
		f.Close()
		if err := os.Remove(name + partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the wrong file: %w", err)
		}
		return protocol.ErrConflict.With(fmt.Sprintf("the file is not the expected one (SHA-256 %.12s… instead of %.12s…); it was deleted", got, e.SHA256))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("store the file: %w", err)
	}
	if err := os.Rename(name+partial, name); err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	return nil
}

// fetch appends what is missing to a file, and to its checksum.
func (m *Models) fetch(ctx context.Context, p *pull, e entry, f *os.File, sum hash.Hash, have int64) error {
	_, _, mirror := m.o.Settings.LocalModels()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(mirror, "/")+"/"+e.Repository+"/resolve/main/"+e.File, nil)
	if err != nil {
		return fmt.Errorf("the mirror's address: %w", err)
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := m.open(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
			return fmt.Errorf("%s sent another part of the file than the one that was requested", req.URL.Host)
		}
	case http.StatusOK: // the server cannot resume
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		sum.Reset()
		have = 0
	case http.StatusNotFound:
		return fmt.Errorf("%s does not have %s; check the mirror's address in Settings", req.URL.Host, e.File)
	default:
		return fmt.Errorf("%s answered %s", req.URL.Host, resp.Status)
	}
	w := &progressWriter{m: m, p: p, e: e, to: io.MultiWriter(f, sum), done: have}
	if _, err := io.Copy(w, io.LimitReader(resp.Body, e.FileBytes-have+1)); err != nil {
		return fmt.Errorf("download: %w", err)
	}
	if w.done < e.FileBytes {
		return fmt.Errorf("%s ended the download early; try again", req.URL.Host)
	}
	return nil
}

// progressWriter counts what is written.
type progressWriter struct {
	m    *Models
	p    *pull
	e    entry
	to   io.Writer
	done int64
}

func (w *progressWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.done += int64(n)
	w.m.progress(w.p, w.done, w.e.FileBytes)
	return n, err
}
