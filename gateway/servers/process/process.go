// Package process runs the command of an MCP server on a machine, whose tool serve starts it, and
// carries its standard input and output.
package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// Tool is the tool of machines that runs a server.
const Tool = "serve"

// Args are the arguments of the tool.
type Args struct {
	Command string            `json:"command,omitempty"`
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

// Machines run the tool.
type Machines interface {
	Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// Options say what runs where.
type Options struct {
	Machines Machines
	Node     protocol.NodeID
	Args     Args
	// Log gets what the command writes to its standard error, and lines that are not messages.
	Log io.Writer
	// HasNetwork reports that the machine does not block the network for it; otherwise the reason of
	// its end mentions that.
	HasNetwork bool
}

// Process is a command that runs on a machine.
type Process struct {
	o       Options
	call    protocol.CallID
	lines   lines
	out     buffer
	running context.Context    // ends with Stop
	kill    context.CancelFunc // ends running
	started chan struct{}      // closed when it runs
	over    chan struct{}      // closed when it has ended
	once    sync.Once
	err     error // why it ended; readable once over is closed
}

// Start starts a command, and waits until it runs. The caller stops it. ctx limits the start only.
func Start(ctx context.Context, o Options) (*Process, error) {
	raw, err := protocol.Marshal(o.Args)
	if err != nil {
		return nil, err
	}
	p := &Process{o: o, call: protocol.NewCallID(), started: make(chan struct{}), over: make(chan struct{})}
	p.out.ready = sync.NewCond(&p.out.mu)
	p.running, p.kill = context.WithCancel(context.WithoutCancel(ctx))
	go p.run(raw)
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
	p.out.Close()
	p.kill()
	<-p.over
}

// Transport returns the transport over the standard input and output of the command.
func (p *Process) Transport() mcp.Transport {
	return &mcp.IOTransport{Reader: &p.out, Writer: input{p}}
}

// run blocks until the command has ended.
func (p *Process) run(args json.RawMessage) {
	defer close(p.over)
	inv := protocol.ToolInvoke{CallID: p.call, Tool: Tool, Args: args, Direct: true, Network: true}
	raw, err := p.o.Machines.Call(p.running, p.o.Node, inv, p.receive)
	p.out.Close()
	var exit struct {
		Code   *int   `json:"exitCode"`
		Signal string `json:"signal"`
	}
	switch {
	case err != nil:
		p.err = err
	case json.Unmarshal(raw, &exit) == nil && exit.Signal != "":
		p.err = fmt.Errorf("the command was ended by %s", exit.Signal)
	case exit.Code != nil:
		p.err = fmt.Errorf("the command ended with exit code %d", *exit.Code)
	default:
		p.err = errors.New("the command ended")
	}
	if !p.o.HasNetwork {
		p.err = fmt.Errorf("%w (the network is blocked for commands on %s; if the server needs it, start the machine's node with --network ask)", p.err, p.o.Node)
	}
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
	messages, other := p.lines.split(one.Out)
	_, _ = p.o.Log.Write(append(one.Err, other...)) // the log takes everything
	p.out.add(messages)
}

// lines tells the messages of the standard output, one a line, from other lines: some servers print
// a greeting there.
type lines struct{ hasBegun, isMessage bool }

// split returns the parts of the output that belong to messages, and the others. Calls continue each
// other.
func (l *lines) split(data []byte) (messages, other []byte) {
	for line := range bytes.Lines(data) {
		if !l.hasBegun {
			l.isMessage = line[0] == '{'
		}
		if l.isMessage {
			messages = append(messages, line...)
		} else {
			other = append(other, line...)
		}
		l.hasBegun = line[len(line)-1] != '\n'
	}
	return messages, other
}

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

// maxBuffer is how many bytes of a server may wait to be read.
const maxBuffer = 64 << 20

// buffer is what a server wrote and nobody has read.
type buffer struct {
	mu       sync.Mutex // guards the fields below
	ready    *sync.Cond
	data     bytes.Buffer
	isClosed bool
}

func (b *buffer) add(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data.Len()+len(data) > maxBuffer {
		b.isClosed = true // the connection fails rather than losing a part
	} else if !b.isClosed {
		b.data.Write(data)
	}
	b.ready.Broadcast()
}

// Read blocks until there is data, or the end.
func (b *buffer) Read(into []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.data.Len() == 0 && !b.isClosed {
		b.ready.Wait()
	}
	if b.data.Len() == 0 {
		return 0, io.EOF
	}
	return b.data.Read(into)
}

// Close ends reads, after the data that is there.
func (b *buffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isClosed = true
	b.ready.Broadcast()
	return nil
}

// input writes to the standard input of a command, and waits until its machine has done so.
type input struct{ p *Process }

func (w input) Write(data []byte) (int, error) {
	args, err := protocol.Marshal(Args{Session: string(w.p.call), Input: data})
	if err != nil {
		return 0, err
	}
	inv := protocol.ToolInvoke{CallID: protocol.NewCallID(), Tool: Tool, Args: args, Direct: true}
	if _, err := w.p.o.Machines.Call(w.p.running, w.p.o.Node, inv, nil); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Close does nothing: the end of the connection stops the command.
func (input) Close() error { return nil }
