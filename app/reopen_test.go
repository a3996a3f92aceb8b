package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/crash"
)

// asWindow, if set, makes the test binary a process with windows: it writes a line into the file that
// it names, and fails until the line that the arguments name.
const asWindow = "TEST_AS_WINDOW"

func init() {
	file := os.Getenv(asWindow)
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
	}
	lines, e := os.ReadFile(file)
	if err != nil || e != nil {
		os.Exit(9)
	}
	if strings.Count(string(lines), "\n") < 3 {
		os.Exit(crashed)
	}
	os.Exit(0)
}

func TestWindowsOpenAgainAfterAPanic(t *testing.T) {
	for name, c := range map[string]struct {
		lasts time.Duration
		runs  int
		fails bool
	}{
		"until the person quits":      {2 * reopenAfter, 3, false},
		"not if they fail again soon": {time.Second, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs")
			t.Setenv(asWindow, file)
			at := time.Now()
			err := reopenWindows([]string{"--reopened", "--home", "x"}, func() time.Time {
				at = at.Add(c.lasts)
				return at
			})
			if _, hasCrashed := errors.AsType[*crash.Error](err); hasCrashed != c.fails || err != nil && !c.fails {
				t.Errorf("got %v, want a crash: %v", err, c.fails)
			}
			lines, _ := os.ReadFile(file)
			if want := strings.Repeat("--reopened --home x\n", c.runs); string(lines) != want {
				t.Errorf("got runs %q, want %q", lines, want)
			}
		})
	}
}
