package shell

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func TestWindowsCommandsOfProgramsRunInCmd(t *testing.T) {
	b := cmdExe(t, "")
	t.Setenv("SHELL", "")
	out := tooltest.Must[commandOut](b.Bench, "command", tooltest.Args{"command": `set "PROGRAM_A=x y"&& set PROGRAM_A& exit 3`, "idle_timeout": 60})
	if out.State != "exited" || out.ExitCode == nil || *out.ExitCode != 3 || out.Output != "PROGRAM_A=x y\r\n" {
		t.Errorf(`got %+v; want State "exited", ExitCode 3 and Output "PROGRAM_A=x y\r\n"`, out)
	}
	for shell, want := range map[string]string{"": "cmd.exe", "powershell": "powershell.exe"} {
		if p := tooltest.Preview(b.Bench, "command", tooltest.Args{"command": "dir", "shell": shell}); !strings.HasSuffix(strings.ToLower(p.Shell), want) {
			t.Errorf("preview with shell %q: got %+v, want %s", shell, p, want)
		}
	}
}

func TestWindowsSignals(t *testing.T) {
	b := cmdExe(t, "")
	out := tooltest.Must[commandOut](b.Bench, "command", tooltest.Args{"command": linger(t), "idle_timeout": 0})
	for _, name := range []string{"SIGHUP", "SIGQUIT"} {
		raw, err := json.Marshal(tooltest.Args{"command_id": out.CommandID, "signal": name})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Tools["command"].Call(t.Context(), access.Call{}, raw)
		if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultInvalidArgs {
			t.Errorf("%s: got %v, want Code FaultInvalidArgs", name, err)
		}
	}
	out = tooltest.Must[commandOut](b.Bench, "command", tooltest.Args{"command_id": out.CommandID, "signal": "SIGKILL", "idle_timeout": 60})
	if out.State != "exited" || out.ExitCode == nil || *out.ExitCode != 1 {
		t.Errorf(`killed: got %+v; want State "exited" and ExitCode 1`, out)
	}
}
