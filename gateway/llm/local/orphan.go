package local

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
)

// orphan is what a gateway that is killed leaves about its llama-server.
type orphan struct {
	PID     int    `json:"pid"`
	Address string `json:"address"`
	Key     string `json:"key"`
}

func (m *Models) record() string { return filepath.Join(m.o.Folder, "llama-server.json") }

func (m *Models) recordServer(s server, pid int) {
	data, err := json.Marshal(orphan{pid, s.address, s.key})
	if err == nil {
		if err = os.MkdirAll(m.o.Folder, 0o700); err == nil {
			err = os.WriteFile(m.record(), data, 0o600)
		}
	}
	if err != nil {
		slog.Warn("Recording llama-server failed", "err", err)
	}
}

// endOrphan ends the llama-server of a gateway that was killed: it would hold the memory of a model
// for nobody. That it accepts its key, and nothing else, proves that it is still the same process.
func (m *Models) endOrphan(ctx context.Context) {
	data, err := os.ReadFile(m.record())
	if err != nil {
		return
	}
	defer os.Remove(m.record())
	var o orphan
	if json.Unmarshal(data, &o) != nil || o.PID <= 0 || o.Key == "" {
		return
	}
	if status(ctx, o.Address+"/props", "") != http.StatusUnauthorized || status(ctx, o.Address+"/props", o.Key) != http.StatusOK {
		return
	}
	if p, err := os.FindProcess(o.PID); err == nil {
		slog.Info("The llama-server of a gateway that was killed is ended", "pid", o.PID)
		p.Kill()
	}
}
