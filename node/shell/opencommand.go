package shell

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/textfile"
)

// session is a command whose output is read call by call.
type session struct {
	job    *job
	turn   sync.Mutex // one call at a time
	read   int64      // bytes of output that were returned
	expiry *time.Timer
}

// act sends the text and the signal of a call that continues a command.
func (c *session) act(in commandIn) error {
	if in.CommandID != "" && in.Command != "" {
		if err := c.send(in.Command); err != nil {
			return err
		}
	}
	if in.Signal == "" {
		return nil
	}
	if !slices.Contains(signalNames, in.Signal) {
		return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("unknown signal %q: use %s", in.Signal, strings.Join(signalNames, ", ")))
	}
	if !c.job.isRunning() {
		return nil
	}
	return c.signal(in.Signal)
}

var signalNames = []string{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"}

func (c *session) send(text string) error {
	if !c.job.isRunning() || c.job.stdin == nil {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the command has ended, so it takes no input")
	}
	if c.job.person.types.Load() {
		return protocol.NewFault(protocol.FaultFailedPrecondition, personTypes)
	}
	if _, err := c.job.write(text); err != nil {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the command does not read its input")
	}
	return nil
}

// signal sends a signal to a running command.
func (c *session) signal(name string) error {
	switch {
	case name == "SIGKILL":
		c.job.requestStop(byKill)
		return nil
	case name == "SIGTERM":
		c.job.child.Terminate()
		return nil
	case name == "SIGINT" && c.job.tty, name == "SIGINT" && runtime.GOOS == "windows":
		return c.send("\x03") // the terminal passes it on to the program in the foreground
	case name == "SIGQUIT" && c.job.tty && runtime.GOOS != "windows":
		return c.send("\x1c")
	}
	return sendSignal(c.job.pid, name)
}

// pollEvery is how often a waiting call looks for new output.
const pollEvery = 20 * time.Millisecond

// await returns when the command has ended, when it has printed nothing for a while, when there is
// enough output for a result, or when ctx ends.
func (c *session) await(ctx context.Context, idle time.Duration, progress func(tail string, bytes int64)) {
	if idle == 0 {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	began := time.Now()
	quietSince, size, reported := began, c.job.out.size(), began
	for {
		select {
		case <-c.job.done:
			return
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if total := c.job.out.size(); total != size {
				quietSince, size = now, total
				if progress != nil && now.Sub(reported) >= progressEvery {
					reported = now
					progress(c.job.out.tail(), total)
				}
			}
			if now.Sub(quietSince) >= idle || now.Sub(began) >= max(maxWait, idle) || size-c.read >= maxCallOutput {
				return
			}
		}
	}
}

// next returns the output since the last call, and the number of bytes before it that are lost.
// While the command runs, the beginning of a character waits for its rest.
func (c *session) next(over bool) (text string, dropped int64) {
	raw, total := c.job.out.since(c.read)
	dropped = total - int64(len(raw)) - c.read
	raw = raw[:min(len(raw), maxCallOutput)]
	if !over || int64(len(raw)) < total-c.read-dropped {
		raw = raw[:len(raw)-textfile.Incomplete(raw)]
	}
	c.read += dropped + int64(len(raw))
	return strings.ToValidUTF8(string(raw), "\uFFFD"), dropped
}

// exitCode returns the exit code of a command that has ended: -1 if a signal ended it, 1 on
// Windows.
func (c *session) exitCode() *int {
	if c.job.result.code != nil {
		return c.job.result.code
	}
	killed := -1
	if runtime.GOOS == "windows" {
		killed = 1
	}
	return &killed
}
