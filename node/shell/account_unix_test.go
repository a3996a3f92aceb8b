//go:build unix

package shell

import (
	"fmt"
	"os"
	"os/user"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

// daemon returns a user of every Unix.
func daemon(t *testing.T) *user.User {
	t.Helper()
	u, err := user.Lookup("daemon")
	if err != nil {
		t.Skip(err)
	}
	return u
}

func TestRootRunsCommandsAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can")
	}
	u := daemon(t)
	a, err := newBench(t).jobs.confinement.accountOf(u.Username)
	if ids, _ := u.GroupIds(); err != nil || fmt.Sprint(a.Groups) != fmt.Sprint(ids) {
		t.Errorf("got %+v, %v, want the groups %v", a, err, ids)
	}
	t.Setenv("FAIRLEAD_TEST_SECRET", "x")
	for name, b := range map[string]*bench{"plain": newBench(t), "full": newBenchWith(t, sandbox.Options{}, sandbox.Profile{Mode: sandbox.Full})} {
		t.Run(name, func(t *testing.T) {
			for _, who := range []string{u.Username, u.Uid} {
				text, code := finish(b, command(b, tooltest.Args{"command": "id -u; id -g; echo $HOME $USER $LOGNAME $FAIRLEAD_TEST_SECRET; pwd", "username": who}))
				if want := u.Uid + "\n" + u.Gid + "\n" + u.HomeDir + " daemon daemon\n" + (&account{home: u.HomeDir}).folder() + "\n"; text != want || code != 0 {
					t.Errorf("%s: got %q, %d, want %q", who, text, code, want)
				}
			}
			out := command(b, tooltest.Args{"command": "sh", "username": "daemon", "idle_timeout": 0.3})
			out = command(b, tooltest.Args{"command_id": out.CommandID, "command": "[ -O $(tty) ] && echo ow''ner; exit\n"})
			if text, _ := finish(b, out); !strings.Contains(text, "owner") {
				t.Errorf(`the terminal belongs to somebody else: %q, want "owner" in it`, text)
			}
			out = command(b, tooltest.Args{"command": "sleep 1000", "username": "daemon", "idle_timeout": 0})
			if _, code := finish(b, command(b, tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL"})); code != -1 {
				t.Errorf("killed: got exit code %d, want -1", code)
			}
			dir := tooltest.Folder(t)
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			fault(b, tooltest.Args{"command": "pwd", "username": "daemon", "workdir": dir}, protocol.FaultPermissionDenied, "")
			fault(b, tooltest.Args{"command": "id", "username": "nobody-at-all"}, protocol.FaultInvalidArgs, "no user")
		})
	}
}

func TestUserOfACommandIsTheNodesOwnElsewhere(t *testing.T) {
	own, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	daemon(t)
	b := newBenchWith(t, sandbox.Options{}, sandbox.Profile{})
	for _, who := range []string{own.Username, own.Uid} {
		if text, _ := finish(b, command(b, tooltest.Args{"command": "id -u", "username": who})); text != own.Uid+"\n" {
			t.Errorf("%s: got %q, want %q", who, text, own.Uid+"\n")
		}
	}
	fault(b, tooltest.Args{"command": "id", "username": "daemon"}, protocol.FaultUnsupported, "Leave username out")
}

func TestNameOfAUserIsCheckedBeforeThePersonIsAsked(t *testing.T) {
	b := newBenchWith(t, sandbox.Options{}, sandbox.Profile{})
	if p := tooltest.Preview(b.Bench, "command", tooltest.Args{"command": "id", "username": "nobody-at-all"}); p.Problem == "" {
		t.Errorf("preview: got %+v, want some Problem", p)
	}
}
