package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// ErrNotSent means that the server did not get a message.
var ErrNotSent = errors.New("not sent")

// Connect implements [mcp.Transport] over the standard input and output of the command.
func (p *Process) Connect(context.Context) (mcp.Connection, error) { return &connection{p: p}, nil }

// connection implements [mcp.Connection].
type connection struct {
	p       *Process
	writing sync.Mutex // messages are written one after the other
}

func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) { return c.p.in.next(ctx) }

// Write writes a message to the standard input of the command, and waits until its machine has done
// so. The error wraps [ErrNotSent] if the machine reports that it has not.
func (c *connection) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	args, err := protocol.Marshal(Args{Session: string(c.p.o.Call), Input: append(data, '\n')})
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.p.o.Continue(c.p.running, tool.Step{Call: c.p.o.Call, Principal: c.p.o.Owner, Args: args})
	_, hasFailed := errors.AsType[*tool.Failure](err)
	_, isDenied := errors.AsType[*protocol.Fault](err)
	if hasFailed || isDenied {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return err
}

// Close ends reads. The end of the connection stops the command.
func (c *connection) Close() error {
	c.p.in.close()
	return nil
}

func (*connection) SessionID() string { return "" }

// maxQueue is how many messages of a server may wait to be read.
const maxQueue = 10_000

// queue holds the messages that a server wrote and nobody has read.
type queue struct {
	ready wake.Signal // holds a token when there may be something to read

	mu       sync.Mutex // guards the fields below
	list     []jsonrpc.Message
	isClosed bool
}

// add adds messages. The connection fails rather than losing one.
func (q *queue) add(list []jsonrpc.Message) {
	q.mu.Lock()
	if q.isClosed = q.isClosed || len(q.list)+len(list) > maxQueue; !q.isClosed {
		q.list = append(q.list, list...)
	}
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	q.ready.Send()
}

// next blocks until there is a message. After the end it returns io.EOF.
func (q *queue) next(ctx context.Context) (jsonrpc.Message, error) {
	for {
		q.mu.Lock()
		list, isClosed := q.list, q.isClosed
		if len(list) > 0 {
			q.list = list[1:]
			q.mu.Unlock()
			return list[0], nil
		}
		q.mu.Unlock()
		if isClosed {
			return nil, io.EOF
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// close ends reads, after the messages that are there.
func (q *queue) close() {
	q.mu.Lock()
	q.isClosed = true
	q.mu.Unlock()
	q.signal()
}
