//go:build unix

package provision

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision/contract"
	"fairlead/gateway/store"
)

// childHome is the environment variable with the folder of a manager that runs in a process of its
// own, which the test kills.
const childHome = "PROVISION_TEST_HOME"

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if filepath.Base(os.Args[0]) == "fake" {
		contract.Main(fakeProvider)
		return
	}
	if home := os.Getenv(childHome); home != "" {
		runChild(home)
		return
	}
	os.Exit(m.Run())
}

// fakeProvider creates machines as files in the folder in its settings. It waits forever at the step
// in them.
func fakeProvider(ctx context.Context, r contract.Request, report func(contract.Line)) (contract.Line, error) {
	dir := r.Settings["folder"]
	machine := filepath.Join(dir, "machines", r.TaskID)
	at := func(step string) {
		if r.Settings["stop"] == step {
			os.WriteFile(filepath.Join(dir, "reached"), nil, 0o600)
			time.Sleep(time.Hour) // until it is killed
		}
	}
	switch r.Action {
	case contract.Describe:
		return contract.Line{Summary: contract.Size(r.CPU, r.Memory), Cost: "1 cent an hour"}, nil
	case contract.Create:
		at("before")
		if err := os.WriteFile(machine, []byte(r.Install), 0o600); err != nil {
			return contract.Line{}, err
		}
		at("made")
		report(contract.Line{Progress: "Starting", Reference: "ref-" + r.NodeName})
		at("told")
		if r.Settings["stop"] == "fail" {
			return contract.Line{}, errors.New("no room with the password " + r.Settings["password"])
		}
		return contract.Line{Reference: "ref-" + r.NodeName, Notes: []string{"made"}}, nil
	case contract.Delete:
		at("deleting")
		if r.Settings["stop"] == "forgets" && r.Reference == "" {
			return contract.Line{}, nil
		}
		if err := os.Remove(machine); err != nil && !errors.Is(err, os.ErrNotExist) {
			return contract.Line{}, err
		}
		at("deleted")
		return contract.Line{}, nil
	}
	if _, err := os.Stat(machine); err != nil {
		return contract.Line{State: contract.Absent}, nil
	}
	return contract.Line{State: contract.Running, Reference: "ref-" + r.NodeName}, nil
}

// fakeDevices pairs a machine once the file paired exists, and shows it as connected once online does.
type fakeDevices struct{ home string }

func (d fakeDevices) has(file string) bool {
	_, err := os.Stat(filepath.Join(d.home, file))
	return err == nil
}

func (d fakeDevices) List(context.Context) (l protocol.DeviceListResult, err error) {
	if d.has("paired") {
		l.Devices = []protocol.Device{{ID: "d", Role: protocol.RoleNode, NodeID: "web-1", PairedAt: time.Now().UnixMilli()}}
	}
	return l, nil
}

func (d fakeDevices) Invite(context.Context, string, protocol.DeviceInviteParams) (protocol.DeviceInvite, error) {
	return protocol.DeviceInvite{ID: "i", Install: "install"}, nil
}
func (d fakeDevices) Uninvite(context.Context, string) error { return nil }
func (d fakeDevices) Forget(context.Context, string, protocol.DeviceID) error {
	return os.Remove(filepath.Join(d.home, "paired"))
}

func (d fakeDevices) node(id protocol.NodeID) (n protocol.NodeInfo, ok bool) {
	ok = id == "web-1" && d.has("paired")
	return protocol.NodeInfo{ID: id, Online: ok && d.has("online")}, ok
}

// newHome returns the folder of a manager with the provider fake, which stops at a step.
func newHome(t *testing.T, stop string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	exe, err := os.Executable()
	if err == nil {
		err = os.Symlink(exe, filepath.Join(mkdir(t, home, "providers"), "fake"))
	}
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, home, "machines")
	setStop(t, home, stop)
	return home
}

// setStop sets the step at which the provider waits.
func setStop(t *testing.T, home, stop string) {
	t.Helper()
	settings := map[string]string{"folder": home, "stop": stop, "password": "hunter2-secret"}
	if err := keychain.Open(home).Set(settingsPrefix+"fake", keychain.Secret(protocol.Encode(settings))); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir ...string) string {
	t.Helper()
	path := filepath.Join(dir...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func createFile(t *testing.T, home, file string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// openManager opens the manager of a folder. The caller closes db.
func openManager(ctx context.Context, home string) (m *Manager, db *store.DB, err error) {
	if db, err = store.Open(ctx, filepath.Join(home, "fairlead.db")); err != nil {
		return nil, nil, err
	}
	devices := fakeDevices{home}
	m, err = Open(ctx, Options{
		Store: db.Tasks, Secrets: keychain.Open(home), Folder: Folder(filepath.Join(home, "providers")), Locks: filepath.Join(home, "locks"),
		Devices: devices, Node: devices.node, Bus: new(event.Bus), Every: 20 * time.Millisecond,
	})
	return m, db, err
}

// runManager runs the manager of a folder until the test ends.
func runManager(t *testing.T, home string) *Manager {
	t.Helper()
	m, db, err := openManager(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		db.Close()
	})
	return m
}

// stateOf returns the states of all tasks, with a problem in brackets.
func stateOf(m *Manager) string {
	var states []string
	for _, t := range m.List() {
		text := t.State
		if t.Problem != "" {
			text += " (" + t.Problem + ")"
		}
		states = append(states, text)
	}
	return strings.Join(states, " ")
}

func machines(t *testing.T, home string) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(home, "machines"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func untilState(t *testing.T, m *Manager, want string) {
	t.Helper()
	polltest.Until(t, "the state "+want, func() bool { return strings.HasPrefix(stateOf(m), want) && (want != "" || stateOf(m) == "") })
}

var webOne = protocol.ProvisionParams{Node: "web-1", Provider: "fake", CPU: 1024, Memory: 2048}
