// Package process runs the command of an MCP server on a machine, whose tool serve starts it, and
// carries its standard input and output.
package process

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/message"
	"fairlead/gateway/tool"
)

// Tool is the tool of machines that runs a server.
const Tool = "serve"

// Args are the arguments of the tool.
type Args struct {
	Command string `json:"command,omitempty"`
	// Fetch is a command that runs before, with the network.
	Fetch   string            `json:"fetch,omitempty"`
	Server  string            `json:"server,omitempty"`
	Workdir string            `json:"workdir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Session string            `json:"session,omitempty"`
	Input   []byte            `json:"input,omitempty"` // Base64 in JSON
}

// part is a part of the output of the tool.
type part struct {
	Started bool   `json:"started"`
	Out     []byte `json:"out"`
	Err     []byte `json:"err"`
}

// Continue makes a step after the call that was allowed to start the command
// ([tool.Pipeline.Continue]).
type Continue func(ctx context.Context, s tool.Step) (json.RawMessage, error)

// Options say what runs.
type Options struct {
	Continue Continue
	Call     protocol.CallID // that was allowed to start the command
	Owner    auth.Principal  // who made it
	Args     Args
	// Log gets what the command writes to its standard error, and lines that are not messages. Logf
	// gets what is wrong with messages.
	Log  io.Writer
	Logf func(format string, args ...any)
	// Network gives the command the network, if its machine does.
	Network bool
	// NoNetwork says why the command has no network, and what to do about it; empty if it has. The
	// reason of its end has it, unless the command gives another one.
	NoNetwork string
}

// Process is a command that runs on a machine.
type Process struct {
	o       Options
	in      queue              // messages from the command
	running context.Context    // ends with Stop
	kill    context.CancelFunc // ends running
	started chan struct{}      // closed when it runs
	over    chan struct{}      // closed when it has ended
	once    sync.Once
	err     error // why it ended; readable once over is closed

	output sync.Mutex // guards the fields below
	lines  message.Lines
	errors lastLine // of the standard error
	other  lastLine // of the standard output, without messages
}

// Start starts a command, and waits until it runs. The caller stops it. ctx limits the start only.
func Start(ctx context.Context, o Options) (*Process, error) {
	raw, err := protocol.Marshal(o.Args)
	if err != nil {
		return nil, err
	}
	p := &Process{o: o, started: make(chan struct{}), over: make(chan struct{})}
	p.in.ready = wake.New()
	p.lines.Checker.Logf = o.Logf
	p.lines.Other = func(line []byte) {
		_, _ = o.Log.Write(line)
		p.other.add(line)
	}
	p.running, p.kill = context.WithCancel(context.WithoutCancel(ctx))
	crash.Go(func() { p.run(raw) })
	select {
	case <-p.started:
		return p, nil
	case <-p.over:
		p.kill()
		return nil, p.err
	case <-ctx.Done():
		p.Stop()
		return nil, context.Cause(ctx)
	}
}

// Stop ends the command, and waits for its end. It may be called twice.
func (p *Process) Stop() {
	p.in.close()
	p.kill()
	<-p.over
}

// run blocks until the command has ended.
func (p *Process) run(args json.RawMessage) {
	defer close(p.over)
	defer p.in.close()
	defer crash.Recover(&p.err, "MCP server")
	raw, err := p.o.Continue(p.running, tool.Step{Call: p.o.Call, Principal: p.o.Owner, Args: args, IsStart: true, Network: p.o.Network, OnProgress: p.receive})
	p.output.Lock()
	defer p.output.Unlock()
	p.lines.Close()
	p.in.close()
	p.err = p.end(raw, err)
}

// end returns why the command ended: its exit code or signal, and what it wrote last about it.
func (p *Process) end(raw json.RawMessage, err error) error {
	var exit struct {
		Code   *int   `json:"exitCode"`
		Signal string `json:"signal"`
	}
	switch {
	case err != nil:
		return err
	case json.Unmarshal(raw, &exit) == nil && exit.Signal != "":
		err = fmt.Errorf("the command was ended by %s", exit.Signal)
	case exit.Code != nil:
		err = fmt.Errorf("the command ended with exit code %d", *exit.Code)
	default:
		err = errors.New("the command ended")
	}
	last := p.lastLine()
	if last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	if p.o.NoNetwork != "" && (last == "" || isAboutNetwork(last)) {
		err = fmt.Errorf("%w (%s)", err, p.o.NoNetwork)
	}
	return err
}

// receive takes a part of the output.
func (p *Process) receive(r protocol.ToolProgress) {
	var one part
	if json.Unmarshal(r.Chunk, &one) != nil {
		return
	}
	if one.Started {
		p.once.Do(func() { close(p.started) })
	}
	p.output.Lock()
	defer p.output.Unlock()
	_, _ = p.o.Log.Write(one.Err) // the log takes everything
	p.errors.add(one.Err)
	p.in.add(p.lines.Add(one.Out))
}

// LastError returns the last line that the command wrote to its standard error, or else the last line
// of its standard output that is no message, or "".
func (p *Process) LastError() string {
	p.output.Lock()
	defer p.output.Unlock()
	return p.lastLine()
}

func (p *Process) lastLine() string { return cmp.Or(p.errors.line(), p.other.line()) }

// endWait is how long a connection that broke waits for the end of its command, which says why.
const endWait = 3 * time.Second

// Ended returns why the command ended, or nil while it runs. It waits a short time for its end.
func (p *Process) Ended() error {
	select {
	case <-p.over:
		return p.err
	case <-time.After(endWait):
		return nil
	}
}
