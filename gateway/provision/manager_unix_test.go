//go:build unix

package provision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// runChild rents a machine, and gives it back once the file delete exists, until it is killed.
func runChild(home string) {
	ctx := context.Background()
	m, _, err := openManager(ctx, home)
	if err != nil {
		panic(err)
	}
	go m.Run(ctx)
	task, err := m.Create(ctx, "owner", webOne)
	if err != nil {
		panic(err)
	}
	m.Wait(ctx, task.ID, func(protocol.ProvisionTask) {}, protocol.TaskCreating)
	if !(fakeDevices{home}).has("delete") {
		os.WriteFile(filepath.Join(home, "reached"), nil, 0o600)
		select {}
	}
	if _, err := m.Delete(ctx, "owner", task.ID); err != nil {
		panic(err)
	}
	select {}
}

// TestNothingIsLeftAfterAKillAtAnyStep kills the gateway at each step, and looks what the next start
// makes of it.
func TestNothingIsLeftAfterAKillAtAnyStep(t *testing.T) {
	for _, c := range []struct {
		step  string
		files []string // that exist before
		want  string   // state in the end
		left  int      // machines that exist then
	}{
		{"before", nil, "failed (Fairlead was stopped while", 0},
		{"made", nil, "failed (Fairlead was stopped while", 0},
		{"told", nil, "failed (Fairlead was stopped while", 0},
		{"connecting", nil, "failed (Fairlead was stopped before", 0},
		{"paired", nil, "running", 1},
		{"deleting", []string{"delete"}, "", 0},
		{"deleted", []string{"delete"}, "", 0},
	} {
		t.Run(c.step, func(t *testing.T) {
			home := newHome(t, c.step)
			for _, f := range c.files {
				createFile(t, home, f)
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), childHome+"="+home)
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			polltest.Until(t, "the step", func() bool { return fakeDevices{home}.has("reached") })
			cmd.Process.Kill()
			cmd.Wait()
			if c.step == "paired" {
				createFile(t, home, "paired")
				createFile(t, home, "online")
			}
			setStop(t, home, "")
			m := runManager(t, home)
			untilState(t, m, c.want)
			if got := machines(t, home); got != c.left {
				t.Errorf("got %d machines in state %s, want %d", got, stateOf(m), c.left)
			}
		})
	}
}

func TestARentedMachineRunsUntilItIsGivenBack(t *testing.T) {
	home := newHome(t, "")
	m := runManager(t, home)
	task, err := m.Create(t.Context(), "owner", webOne)
	if err != nil {
		t.Fatal(err)
	}
	untilState(t, m, protocol.TaskConnecting)
	if _, err := m.Create(t.Context(), "owner", webOne); !isFault(err, protocol.FaultAlreadyExists) {
		t.Errorf("a second one of this name: got %v, want %s", err, protocol.FaultAlreadyExists)
	}
	createFile(t, home, "paired")
	createFile(t, home, "online")
	untilState(t, m, protocol.TaskRunning)
	if task, err = m.Get(task.ID); err != nil || task.Reference != "ref-web-1" || task.Summary != "1 vCPU, 2 GiB RAM" || task.Cost != "1 cent an hour" {
		t.Errorf("got %+v, error %v, want the reference, size and cost", task, err)
	}
	if _, err := m.Delete(t.Context(), "owner", task.ID); err != nil {
		t.Fatal(err)
	}
	untilState(t, m, "")
	if n := machines(t, home); n != 0 || (fakeDevices{home}).has("paired") {
		t.Errorf("got %d machines, pairing left: %v, want none", n, fakeDevices{home}.has("paired"))
	}
	if _, err := m.Delete(t.Context(), "owner", task.ID); !isFault(err, protocol.FaultNotFound) {
		t.Errorf("again: got %v, want %s", err, protocol.FaultNotFound)
	}
}

func TestAFailedStepLeavesNothing(t *testing.T) {
	home := newHome(t, "fail")
	m := runManager(t, home)
	if _, err := m.Create(t.Context(), "owner", webOne); err != nil {
		t.Fatal(err)
	}
	untilState(t, m, protocol.TaskFailed)
	if got := stateOf(m); !strings.Contains(got, "no room with the password …") || machines(t, home) != 0 {
		t.Errorf("got state %s and %d machines, want the reason without the password, and none", got, machines(t, home))
	}
}

func TestAMachineIsGivenBackWhileItIsCreated(t *testing.T) {
	home := newHome(t, "made")
	m := runManager(t, home)
	task, err := m.Create(t.Context(), "owner", webOne)
	if err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "the step", func() bool { return fakeDevices{home}.has("reached") })
	if _, err := m.Delete(t.Context(), "owner", task.ID); err != nil {
		t.Fatal(err)
	}
	untilState(t, m, "")
	if n := machines(t, home); n != 0 {
		t.Errorf("got %d machines, want none", n)
	}
}

func TestAFailedDeletionIsRepeated(t *testing.T) {
	home := newHome(t, "")
	m := runManager(t, home)
	task, err := m.Create(t.Context(), "owner", webOne)
	if err != nil {
		t.Fatal(err)
	}
	untilState(t, m, protocol.TaskConnecting)
	program := filepath.Join(home, "providers", "fake")
	if err := os.Rename(program, program+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Delete(t.Context(), "owner", task.ID); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "the reason", func() bool {
		now, _ := m.Get(task.ID)
		return strings.Contains(now.Progress, "no provider named")
	})
	if err := os.Rename(program+"-away", program); err != nil {
		t.Fatal(err)
	}
	untilState(t, m, "")
}

func isFault(err error, code protocol.FaultCode) bool {
	f, ok := errors.AsType[*protocol.Fault](err)
	return ok && f.Code == code
}

func TestRangesAndDefaultsAreThoseOfTheSpecification(t *testing.T) {
	m := runManager(t, newHome(t, ""))
	for _, c := range []struct {
		in   protocol.ProvisionParams
		code protocol.FaultCode // empty: it is fine
	}{
		{protocol.ProvisionParams{Node: "a", Provider: "fake"}, ""},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", CPU: 256, Memory: 512}, ""},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", CPU: 4096, Memory: 16384}, ""},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", CPU: 255}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", CPU: 4097}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", Memory: 511}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "a", Provider: "fake", Memory: 16385}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "", Provider: "fake"}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "it's", Provider: "fake"}, protocol.FaultInvalidArgs},
		{protocol.ProvisionParams{Node: "a"}, protocol.FaultInvalidArgs}, // aws, which is not here
		{protocol.ProvisionParams{Node: "a", Provider: "../fake"}, protocol.FaultInvalidArgs},
	} {
		got, err := m.Offer(t.Context(), c.in)
		if c.code != "" && !isFault(err, c.code) || c.code == "" && err != nil {
			t.Errorf("%+v: got %v, want %q", c.in, err, c.code)
		}
		if err == nil && c.in.CPU == 0 && (got.CPU != 256 || got.Memory != 512 || got.Summary != "0.25 vCPU, 512 MiB RAM") {
			t.Errorf("%+v: got %+v, want 256 and 512", c.in, got)
		}
	}
}

// refusingKeychain stores nothing.
type refusingKeychain struct{ keychain.Store }

func (refusingKeychain) Set(string, keychain.Secret) error { return protocol.ErrStorage }
func (refusingKeychain) Delete(string) error               { return protocol.ErrStorage }

func TestSettingsThatAreNotStoredAreAnError(t *testing.T) {
	m := runManager(t, newHome(t, ""))
	if got := m.Providers(); len(got) != 1 || strings.Join(got[0].Settings, " ") != "folder password stop" {
		t.Errorf("got %+v, want fake with the names of its settings", got)
	}
	m.o.Secrets = refusingKeychain{m.o.Secrets}
	for _, settings := range []map[string]string{{"key": "x"}, nil} {
		if err := m.SetSettings(t.Context(), "owner", protocol.ProvisionSettingsParams{Provider: "fake", Settings: settings}); !errors.Is(err, protocol.ErrStorage) {
			t.Errorf("%v: got %v, want %v", settings, err, protocol.ErrStorage)
		}
	}
}

func TestConformanceFindsWhatAProviderDoesWrong(t *testing.T) {
	for stop, want := range map[string]string{
		"": "", "fail": "create creates a machine", "forgets": "delete finds the machine by its task alone, delete removes what a killed create left",
	} {
		t.Run(stop, func(t *testing.T) {
			home := newHome(t, stop)
			settings, err := Settings(keychain.Open(home), "fake")
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			err = Check(t.Context(), Folder(filepath.Join(home, "providers")), "fake", settings, true, func(name string, err error) {
				if err != nil {
					failed = append(failed, name)
				}
			})
			if got := strings.Join(failed, ", "); !strings.HasPrefix(got, want) || (err == nil) != (want == "") {
				t.Errorf("got failed checks %q, error %v, want %q", got, err, want)
			}
		})
	}
}
