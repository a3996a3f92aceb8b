package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

const serverName = "llama-server"

// loadLimit is how long a model may take to load; a large one comes from a slow disk.
const loadLimit = 10 * time.Minute

// server is the llama-server that runs. Its fields are guarded by Models.mu.
type server struct {
	state        protocol.LocalServer // without a State if none is to run
	address, key string
}

// serve runs the model of the settings until ctx ends, and another one when they change.
func (m *Models) serve(ctx context.Context) {
	m.endOrphan(ctx)
	for ctx.Err() == nil {
		model, tokens, _ := m.o.Settings.LocalModels()
		run, stop := context.WithCancel(ctx)
		ended := crash.Result(func() error { return m.runServer(run, model, tokens) })
		for changed := false; !changed && ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-m.wake:
				next, nextTokens, _ := m.o.Settings.LocalModels()
				changed = next != model || nextTokens != tokens || ended == nil // which tries again
			case err := <-ended: // which stays so until the settings change
				ended = nil
				m.failed(model, err)
			}
		}
		stop()
		if ended != nil {
			<-ended
		}
	}
	m.setServer(server{})
}

func (m *Models) failed(model string, err error) {
	if model == "" {
		m.setServer(server{})
		return
	}
	slog.Warn("The model server llama-server ended", "model", model, "err", err)
	m.setServer(server{state: protocol.LocalServer{Model: model, State: protocol.ServerFailed, Error: err.Error()}})
}

func (m *Models) setServer(s server) {
	m.mu.Lock()
	changed := m.server.state != s.state
	m.server = s
	m.mu.Unlock()
	if changed {
		m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeLocalModels})
	}
}

// file returns the file of a model: one of the catalogue, or any by its path.
func (m *Models) file(model string) (string, error) {
	file := model
	if e, ok := m.find(model); ok {
		file = m.path(e)
	}
	if !filepath.IsAbs(file) {
		return "", fmt.Errorf("%s is neither a model of the list nor the full path of a GGUF file", model)
	}
	switch info, err := os.Stat(file); {
	case err != nil:
		return "", fmt.Errorf("%s is not there; download the model first", file)
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder; choose a GGUF file", file)
	}
	return file, nil
}

// runServer runs llama-server until ctx or the program ends, and says why the program ended.
func (m *Models) runServer(ctx context.Context, model string, tokens int) error {
	if model == "" {
		return nil
	}
	file, err := m.file(model)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(serverName)
	if err != nil {
		return errors.New("llama-server is not installed, or not on the PATH")
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := server{address: "http://127.0.0.1:" + port, key: rand.Text(), state: protocol.LocalServer{Model: model, State: protocol.ServerStarting}}
	cmd := exec.CommandContext(ctx, program, "--model", file, "--alias", strings.TrimSuffix(filepath.Base(model), ".gguf"),
		"--host", "127.0.0.1", "--port", port, "--ctx-size", strconv.Itoa(tokens), "--jinja")
	cmd.Env = append(os.Environ(), "LLAMA_API_KEY="+s.key)
	cmd.WaitDelay = 5 * time.Second
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	m.setServer(s)
	m.recordServer(s, cmd.Process.Pid)
	var wait crash.Group
	wait.Go(func() {
		if err := answers(ctx, s.address); err != nil {
			stop(err)
			return
		}
		s.state.State = protocol.ServerReady
		m.setServer(s)
	})
	err = cmd.Wait()
	cause := context.Cause(ctx)
	stop(nil)
	wait.Wait()
	os.Remove(m.record())
	if errors.Is(cause, errSlow) {
		err = cause
	}
	return out.explain(err)
}

var errSlow = fmt.Errorf("the model was not loaded within %d minutes", int(loadLimit.Minutes()))

// freePort returns a port of the loopback address that nobody uses. Another program may take it
// before llama-server does, which then ends.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// answers waits until the server has loaded its model. The server has no event for that, so it is
// asked twice a second.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, errSlow)
	defer cancel()
	for tick := time.NewTicker(500 * time.Millisecond); ; {
		if status(ctx, address+"/health", "") == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// status returns the status of an answer, 0 if none comes within two seconds.
func status(ctx context.Context, url, key string) int {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := direct.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// direct never uses a proxy: its requests stay on this computer.
var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// tail keeps the last lines that a program wrote.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

// tailSize is the size of the text that explains a failure, in bytes.
const tailSize = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	if extra := len(t.bytes) - tailSize; extra > 0 {
		t.bytes = t.bytes[extra:]
	}
	return len(b), nil
}

// explain returns the failure of the program with the last line about an error that it wrote.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = errors.New("exit status 0")
	}
	lines := strings.Split(strings.TrimSpace(string(t.bytes)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(lines[i]), "error") || strings.Contains(lines[i], "failed") {
			return fmt.Errorf("llama-server ended: %w: %s", err, strings.TrimSpace(lines[i]))
		}
	}
	return fmt.Errorf("llama-server ended: %w", err)
}
