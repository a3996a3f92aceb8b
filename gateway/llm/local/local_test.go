package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// settings are those of a test.
type settings struct {
	mu     sync.Mutex
	serve  string
	mirror string
	ollama string
}

func (s *settings) Provider(id string) (key, baseURL, wire string) {
	if id == Ollama {
		return "", s.ollama, ""
	}
	return "", "", ""
}

func (s *settings) LocalModels() (serve string, contextTokens int, mirror string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serve, 4096, s.mirror
}

// content is the file of the model "small".
var content = []byte(strings.Repeat("GGUF and the weights ", 5000))

// start runs the models of a catalogue with one small model, until the test ends or stop is called.
func start(t *testing.T, s *settings, folder string) (m *Models, stop func()) {
	t.Helper()
	m = New(Options{Folder: folder, Settings: s, Bus: new(event.Bus)})
	sum := sha256.Sum256(content)
	m.list = []entry{{
		ID: "small", Title: "Small", Memory: 1, Ollama: "small:1b", OllamaBytes: 10,
		Repository: "some/repository", File: "small.gguf", FileBytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	polltest.Until(t, "Run", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.ctx != nil
	})
	return m, stop
}

// state returns the download of "small".
func state(m *Models) protocol.ModelPull {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pulls["small"]; p != nil {
		return p.ModelPull
	}
	return protocol.ModelPull{}
}

func waitFor(t *testing.T, m *Models, want string) protocol.ModelPull {
	t.Helper()
	polltest.Until(t, "a download that is "+want, func() bool { return state(m).State == want })
	return state(m)
}

// mirror serves content at the place of Hugging Face, and counts its requests with a range.
func mirror(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /some/repository/resolve/main/small.gguf", handle)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func serveContent(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
}

func TestFileIsDownloadedAndChecked(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	m, _ := start(t, &settings{mirror: mirror(t, serveContent).URL + "/"}, folder)
	if err := m.Pull(LlamaCPP, "small"); err != nil {
		t.Fatal(err)
	}
	p := waitFor(t, m, protocol.PullDone)
	if p.Done != int64(len(content)) || p.Total != p.Done {
		t.Errorf("got %d of %d bytes, want %d of %[3]d", p.Done, p.Total, len(content))
	}
	got, err := os.ReadFile(filepath.Join(folder, "small.gguf"))
	if err != nil || string(got) != string(content) {
		t.Errorf("got a file of %d bytes (%v), want the content of %d", len(got), err, len(content))
	}
	list := m.List(t.Context())
	if !list.Models[0].HasFile || len(list.Pulls) != 1 || list.System == "" || list.Memory == 0 {
		t.Errorf("got %+v, want a present file, its download, the system and the memory", list)
	}
}

func TestDownloadIsResumed(t *testing.T) {
	t.Parallel()
	for name, ranges := range map[string]bool{"a mirror that can resume": true, "a mirror that cannot": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var resumed atomic.Bool
			half := make(chan struct{})
			var calls atomic.Int32
			s := mirror(t, func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) == 1 {
					w.Header().Set("Content-Length", fmt.Sprint(len(content)))
					w.Write(content[:len(content)/2])
					w.(http.Flusher).Flush()
					close(half)
					<-r.Context().Done()
					return
				}
				resumed.Store(r.Header.Get("Range") != "")
				if !ranges {
					w.Write(content)
					return
				}
				serveContent(w, r)
			})
			folder := t.TempDir()
			m, stop := start(t, &settings{mirror: s.URL}, folder)
			if err := m.Pull(LlamaCPP, "small"); err != nil {
				t.Fatal(err)
			}
			<-half
			polltest.Until(t, "half of the file", func() bool {
				info, err := os.Stat(filepath.Join(folder, "small.gguf.part"))
				return err == nil && info.Size() == int64(len(content)/2)
			})
			stop() // as at the end of the gateway
			if got := state(m).State; got != protocol.PullStopped {
				t.Errorf("got the state %q at the end, want stopped", got)
			}
			m, _ = start(t, &settings{mirror: s.URL}, folder)
			if err := m.Pull(LlamaCPP, "small"); err != nil {
				t.Fatal(err)
			}
			waitFor(t, m, protocol.PullDone)
			if !resumed.Load() {
				t.Error("got a request without a range, want one")
			}
			if got, err := os.ReadFile(filepath.Join(folder, "small.gguf")); err != nil || string(got) != string(content) {
				t.Errorf("got a file of %d bytes (%v), want the content", len(got), err)
			}
		})
	}
}

func TestBadDownloadsFailWithAReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
		part   bool // what was downloaded stays
	}{
		"another file":    {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(strings.Repeat("x", len(content)))) }, "not the expected one", false},
		"a longer file":   {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(string(content) + "more")) }, "not the expected one", false},
		"a short file":    {func(w http.ResponseWriter, _ *http.Request) { w.Write(content[:100]) }, "ended the download early", true},
		"no such file":    {http.NotFound, "does not have small.gguf", true},
		"a broken server": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502", true},
		"a login page":    {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "ended the download early", true},
		"another part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 7-8/9")
			w.WriteHeader(http.StatusPartialContent)
		}, "another part", true},
		"an early hangup": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			m, _ := start(t, &settings{mirror: mirror(t, c.answer).URL}, folder)
			if err := m.Pull(LlamaCPP, "small"); err != nil {
				t.Fatal(err)
			}
			if p := waitFor(t, m, protocol.PullFailed); !strings.Contains(p.Error, c.want) {
				t.Errorf("got %q, want %q", p.Error, c.want)
			}
			if _, err := os.Stat(filepath.Join(folder, "small.gguf")); err == nil {
				t.Error("got a file under its name, want none")
			}
			if _, err := os.Stat(filepath.Join(folder, "small.gguf.part")); (err == nil) != c.part {
				t.Errorf("got a partial file: %v, want %v", err == nil, c.part)
			}
		})
	}
}

func TestStoppedDownloadCanBeDiscarded(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	s := mirror(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:1000])
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	folder := t.TempDir()
	m, _ := start(t, &settings{mirror: s.URL}, folder)
	if err := m.Pull(LlamaCPP, "small"); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := m.Pull(LlamaCPP, "small"); err != nil {
		t.Errorf("got %v for a second start, want the running download", err)
	}
	if err := m.Pull(Ollama, "small"); err == nil {
		t.Error("got a second download of the same model, want a conflict")
	}
	if err := m.StopPull(t.Context(), "small", true); err != nil {
		t.Fatal(err)
	}
	if got := state(m); got.State != "" {
		t.Errorf("got %+v, want no download", got)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 0 {
		t.Errorf("got %v (%v) in the folder, want nothing", list, err)
	}
}

func TestUnknownDownloadsAreRefused(t *testing.T) {
	t.Parallel()
	m, _ := start(t, &settings{}, t.TempDir())
	for _, c := range [][2]string{{LlamaCPP, "unknown"}, {"lmstudio", "small"}} {
		if err := m.Pull(c[0], c[1]); err == nil {
			t.Errorf("%v: got no error", c)
		}
	}
	if err := m.StopPull(t.Context(), "unknown", false); err == nil {
		t.Error("got no error for the end of an unknown download")
	}
	if err := m.StopPull(t.Context(), "small", true); err != nil {
		t.Errorf("got %v for a download that never began, want nothing", err)
	}
}

// TestOllamaDownloads reads what Ollama 0.17 answers to /api/pull, as its documentation shows it.
func TestOllamaDownloads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status         int
		lines          string
		state, problem string
		done, total    int64
	}{
		"success": {200, `{"status":"pulling manifest"}
{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a","total":4000,"completed":1000}
{"status":"pulling 6a0746a1ec1a","digest":"sha256:6a","total":4000,"completed":4000}
{"status":"pulling 8ab4849b038c","digest":"sha256:8a","total":254,"completed":254}
{"status":"verifying sha256 digest"}
{"status":"writing manifest"}
{"status":"success"}
`, protocol.PullDone, "", 4254, 4254},
		"an unknown model": {200, `{"status":"pulling manifest"}
{"error":"pull model manifest: file does not exist"}
`, protocol.PullFailed, "file does not exist", 0, 0},
		"a full disk":    {500, `{"error":"write blobs/sha256-6a: no space left on device"}`, protocol.PullFailed, "no space left", 0, 0},
		"an early end":   {200, `{"status":"pulling manifest"}` + "\n", protocol.PullFailed, "ended the download early", 0, 0},
		"another server": {404, `404 page not found`, protocol.PullFailed, "404", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked struct {
				Model  string
				Stream bool
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && r.URL.Path == "/api/pull" {
					json.NewDecoder(r.Body).Decode(&asked)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.lines)
			}))
			defer s.Close()
			m, _ := start(t, &settings{ollama: s.URL}, t.TempDir())
			if err := m.Pull(Ollama, "small"); err != nil {
				t.Fatal(err)
			}
			p := waitFor(t, m, c.state)
			if !strings.Contains(p.Error, c.problem) || p.Done != c.done || p.Total != c.total {
				t.Errorf("got %+v, want %d of %d bytes and the error %q", p, c.done, c.total, c.problem)
			}
			if asked.Model != "small:1b" || !asked.Stream {
				t.Errorf("got the request %+v, want a stream of small:1b", asked)
			}
		})
	}
}

func TestCatalogueIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range catalogue() {
		if e.ID == "" || e.Title == "" || e.Use == "" || e.Ollama == "" || e.Repository == "" || !strings.HasSuffix(e.File, ".gguf") || seen[e.ID] {
			t.Errorf("got %+v, want an entry with every field and an ID of its own", e)
		}
		if sum, err := hex.DecodeString(e.SHA256); err != nil || len(sum) != sha256.Size {
			t.Errorf("%s: got the checksum %q, want 64 hexadecimal digits", e.ID, e.SHA256)
		}
		if e.Memory < e.FileBytes || e.FileBytes == 0 || e.OllamaBytes == 0 {
			t.Errorf("%s: got %d bytes of memory for a file of %d, want more", e.ID, e.Memory, e.FileBytes)
		}
		seen[e.ID] = true
	}
}

func TestOllamaOfTheEnvironmentDownloads(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"status":"success"}`) }))
	defer s.Close()
	t.Setenv("OLLAMA_HOST", s.Listener.Addr().String())
	m, _ := start(t, &settings{}, t.TempDir())
	if err := m.Pull(Ollama, "small"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, m, protocol.PullDone)
}
