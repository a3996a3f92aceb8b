package supervisor

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
)

// muteHelper is the variable that makes the test program a helper which starts nothing.
const muteHelper = "FAIRLEAD_TEST_MUTE_HELPER"

// TestMain runs a helper that says hello, has a child, and never starts a command.
func TestMain(m *testing.M) {
	mode := os.Getenv(muteHelper)
	if mode == "" {
		os.Exit(m.Run())
	}
	w, err := newWire(os.NewFile(3, "node"))
	var set Settings
	if err == nil && w.receive(&set) == nil && exec.Command("/bin/sleep", "600").Start() == nil && w.send(hello) == nil {
		if mode == "reads" {
			io.Copy(io.Discard, w.conn)
		}
		time.Sleep(10 * time.Minute)
	}
	os.Exit(1)
}

func TestALaunchEndsWithAHelperThatDoesNotRespond(t *testing.T) {
	for mode, size := range map[string]int{"reads": 1, "reads nothing": 4 << 20} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), muteHelper+"="+mode)
			h, err := Start(cmd, Settings{}, false)
			if err != nil {
				t.Fatal(err)
			}
			h.launchLimit = 50 * time.Millisecond
			all := tree(cmd.Process.Pid)
			if len(all) != 2 {
				t.Fatalf("the helper has the processes %v, want itself and a child", all)
			}
			_, err = h.Launch(Spec{Argv: []string{"/bin/true", strings.Repeat("x", size)}, Dir: "/"}, [4]*os.File{}, Reports{})
			if !errors.Is(err, errStuck) {
				t.Errorf("Launch: got %v, want %v", err, errStuck)
			}
			<-h.reaped
			if !h.IsLost() {
				t.Error("the helper counts as usable")
			}
			polltest.Until(t, "the end of the helper's child", func() bool { return ProcessStat(all[1]) == nil })
			if _, err := h.Launch(Spec{Argv: []string{"/bin/true"}, Dir: "/"}, [4]*os.File{}, Reports{}); !errors.Is(err, ErrLost) {
				t.Errorf("the next Launch: got %v, want %v", err, ErrLost)
			}
		})
	}
}
