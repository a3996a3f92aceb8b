package llmserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/porttest"
)

// Server is a llama-server with the scripted model, on its own loopback port.
type Server struct {
	// URL is the server's root without a trailing slash: "http://127.0.0.1:40001". The APIs are
	// under /v1.
	URL string
	// Context is the context window in tokens, which for this model are bytes.
	Context int
	// Key is the key that the server requires; empty without [WithKey].
	Key string
	// Pid is the server's process ID, for tests that kill it.
	Pid int
}

// Model is the ID of the server's model.
const Model = "scripted"

// Option changes how [Start] starts a server.
type Option func(*Server)

// WithContext sets the context window; the default is 32,768. Prompts need [MaxPlan] tokens more
// than their text.
func WithContext(tokens int) Option { return func(s *Server) { s.Context = tokens } }

// WithKey makes the server refuse requests without this key.
func WithKey(key string) Option { return func(s *Server) { s.Key = key } }

// Start starts a server that stops with the test, and waits until it is ready. If no llama-server
// is available, it skips the test with the reason. The program comes from FAIRLEAD_LLAMA_SERVER,
// PATH, or the cache folder, which packaging/llama-server.sh fills.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Skipf("SKIPPED, THE REAL MODEL SERVER CANNOT BE HAD: %v", err)
	}
	s := &Server{Context: 32768}
	for _, o := range options {
		o(s)
	}
	dir := t.TempDir()
	model := filepath.Join(dir, "scripted.gguf")
	if err := writeModel(model); err != nil {
		t.Fatal(err)
	}
	// Another process may take the port before the server starts; then the server exits and the
	// next port is tried.
	for range 3 {
		if err = s.start(t, program, model, dir); err == nil {
			return s
		}
	}
	t.Fatalf("llama-server does not start: %v", err)
	return nil
}

func writeModel(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(WriteScripted(f), f.Close())
}

func (s *Server) start(t testing.TB, program, model, dir string) error {
	t.Helper()
	host, port, err := net.SplitHostPort(porttest.Free(t))
	if err != nil {
		return err
	}
	s.URL = "http://" + net.JoinHostPort(host, port)
	logPath := filepath.Join(dir, "server-"+port+".log")
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()

	args := []string{
		"--model", model, "--alias", Model, "--host", host, "--port", port,
		"--ctx-size", strconv.Itoa(s.Context), "--parallel", "1", "--threads", "1", "--threads-batch", "2",
		"--jinja", "--temp", "0", "--no-warmup", "--offline",
	}
	if s.Key != "" {
		args = append(args, "--api-key", s.Key)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.Pid = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop := sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // fails if it has exited already
		<-ended
	})

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("ended at once (%w):\n%s", err, tail(logPath))
		case <-ctx.Done():
			stop()
			return fmt.Errorf("%w:\n%s", ctx.Err(), tail(logPath))
		case <-tick.C:
		}
		if s.healthy(ctx) {
			t.Cleanup(func() {
				stop()
				if t.Failed() {
					t.Logf("llama-server said at last:\n%s", tail(logPath))
				}
			})
			return nil
		}
	}
}

func (s *Server) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	const most = 6000
	return string(data[max(0, len(data)-most):])
}

// find returns the path of the program, and downloads it if it is missing. A failure is cached, so
// that not every test waits for the network.
var find = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("FAIRLEAD_LLAMA_SERVER"); p != "" {
		return exec.LookPath(p)
	}
	if p, err := exec.LookPath("llama-server"); err == nil {
		return p, nil
	}
	cache, err := os.UserCacheDir() // XDG_CACHE_HOME or ~/.cache on Linux, where the script works
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "fairlead", "llama-server")
	program := filepath.Join(dir, "llama-server")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(filepath.Join(root, "packaging", "llama-server.sh"), dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("packaging/llama-server.sh: %w\n%s", err, out)
	}
	return program, nil
})

func moduleRoot() (string, error) {
	dir, err := os.Getwd() // for a test: its package's folder
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("find go.mod: %w", fs.ErrNotExist)
		}
		dir = up
	}
}
