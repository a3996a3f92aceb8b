//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"

	"fairlead/gateway"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/setup"
)

// The bell is a character for a terminal. A file or another program does not get it.
func TestQuestionsRingTheBellOfATerminal(t *testing.T) {
	own := setup.Default("box", t.TempDir(), gateway.Version)
	l := localOptions{home: t.TempDir(), listen: porttest.Free(t), node: &own}
	withOptions(t, l, func(ctx context.Context, c *connection) {
		watch := func(isTerminal bool) *bufio.Reader {
			cmd := exec.CommandContext(ctx, "fairlead", "approvals", "watch")
			cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+l.home, "FAIRLEAD_URL=ws://"+l.listen+"/ws", "FAIRLEAD_TOKEN=")
			var out io.Reader
			var err error
			if isTerminal {
				out, err = pty.Start(cmd)
			} else if out, err = cmd.StdoutPipe(); err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return bufio.NewReader(strings.NewReader(""))
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			return bufio.NewReader(out)
		}
		terminal, pipe := watch(true), watch(false)
		if _, err := client.Call(ctx, c.Client, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "run touch made"}); err != nil {
			t.Error(err)
		}
		for reader, want := range map[*bufio.Reader]int{terminal: 1, pipe: 0} {
			line, err := reader.ReadString('\n')
			if got := strings.Count(line, "\a"); err != nil || got != want || !strings.Contains(line, "touch made") {
				t.Errorf("terminal: %v: got %q, %v, want the command with %d bells", reader == terminal, line, err, want)
			}
		}
	})
}
