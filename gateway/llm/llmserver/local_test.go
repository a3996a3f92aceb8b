package llmserver

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/event"
	"fairlead/gateway/llm/local"
	"fairlead/gateway/llm/registry"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// served are settings in which a file is the model of llama-server.
type served struct{ file string }

func (s served) Provider(string) (key, baseURL, wire string) { return "", "", "" }

func (s served) LocalModels() (serve string, contextTokens int, mirror string) {
	return s.file, 8192, ""
}

// TestGatewayRunsLlamaServer runs the real server for a file, talks to its model, and looks for the
// server after the end.
func TestGatewayRunsLlamaServer(t *testing.T) {
	program, err := find()
	if err != nil {
		t.Skipf("SKIPPED, THE REAL MODEL SERVER CANNOT BE HAD: %v", err)
	}
	t.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	file := filepath.Join(t.TempDir(), "scripted.gguf")
	if err := writeModel(file); err != nil {
		t.Fatal(err)
	}
	m := local.New(local.Options{Folder: t.TempDir(), Settings: served{file}, Bus: new(event.Bus)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	defer func() { cancel(); <-ended }()
	var server protocol.LocalServer
	polltest.Until(t, "a server", func() bool {
		if s := m.List(ctx).Server; s != nil {
			server = *s
		}
		return server.State == protocol.ServerReady || server.State == protocol.ServerFailed
	})
	if server.State != protocol.ServerReady {
		t.Fatalf("got %+v, want a server that is ready", server)
	}
	models := registry.New(served{}, m.Address)
	if got := models.Test(ctx, "llamacpp", "scripted"); !got.OK || !strings.Contains(got.Message, "answered") {
		t.Errorf("got %+v, want an answer of the model", got)
	}
	_, address := m.Address("llamacpp")
	if resp, err := http.Get(strings.TrimSuffix(address, "/v1") + "/props"); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %v, %v without the key, want it refused", resp, err)
	}
	cancel()
	<-ended
	if _, err := http.Get(address + "/models"); err == nil {
		t.Error("got an answer after the end, want none")
	}
}

// TestServerOfAKilledGatewayIsEnded leaves a server as a gateway does that is killed.
func TestServerOfAKilledGatewayIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		key   string
		lives bool
	}{"its key": {"its-key", false}, "the key of another server": {"another", true}} {
		t.Run(name, func(t *testing.T) {
			s := Start(t, WithKey("its-key"))
			folder := t.TempDir()
			record := fmt.Sprintf(`{"pid": %d, "address": %q, "key": %q}`, s.Pid, s.URL, c.key)
			if err := os.WriteFile(filepath.Join(folder, "llama-server.json"), []byte(record), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			m := local.New(local.Options{Folder: folder, Settings: served{}, Bus: new(event.Bus)})
			go func() {
				defer close(ended)
				m.Run(ctx)
			}()
			polltest.Until(t, "the record to be read", func() bool {
				_, err := os.Stat(filepath.Join(folder, "llama-server.json"))
				return err != nil
			})
			cancel()
			<-ended
			if c.lives {
				if !s.healthy(t.Context()) {
					t.Error("got the end of a server that is not the gateway's, want it to go on")
				}
				return
			}
			polltest.Until(t, "the end of the server", func() bool { return !s.healthy(t.Context()) })
		})
	}
}

func TestBadModelFileIsExplained(t *testing.T) {
	program, err := find()
	if err != nil {
		t.Skipf("SKIPPED, THE REAL MODEL SERVER CANNOT BE HAD: %v", err)
	}
	t.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.gguf")
	if err := os.WriteFile(broken, []byte("GGUF and nothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		broken:                             "llama-server ended",
		filepath.Join(folder, "none.gguf"): "is not there; download the model first",
		folder:                             "is a folder",
		"models/relative.gguf":             "neither a model of the list nor the full path",
	} {
		m := local.New(local.Options{Folder: t.TempDir(), Settings: served{file}, Bus: new(event.Bus)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			m.Run(ctx)
		}()
		var got *protocol.LocalServer
		polltest.Until(t, "a failure", func() bool {
			got = m.List(ctx).Server
			return got != nil && got.State == protocol.ServerFailed
		})
		if !strings.Contains(got.Error, want) {
			t.Errorf("%s: got %q, want %q", file, got.Error, want)
		}
		cancel()
		<-ended
	}
}
