package shell

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
)

// served is a running server.
type served struct {
	child   *sandbox.Process
	ctx     context.Context
	failed  context.CancelCauseFunc // ends the server
	fetches bool

	sending sync.Mutex // parts are sent one after the other
	chunk   func(p servePart) error
}

// run runs a program until it ends or ctx does. One that fetches has no input, and all that it writes
// counts as its error output.
func (s *servers) run(ctx context.Context, call access.Call, spec sandbox.Spec, fetches bool) (out serveOut, err error) {
	pipes, err := openPipes(&spec)
	if err != nil {
		return out, toolkit.Failf("Failed to execute: %w", err)
	}
	defer pipes.close()
	s.mu.Lock()
	if len(s.open) >= maxServed {
		s.mu.Unlock()
		pipes.closeChildEnds()
		return out, protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("this machine runs %d servers already", maxServed))
	}
	if fetches {
		pipes.in.Close()
	} else {
		s.open[string(call.ID)] = pipes.in
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, string(call.ID))
	}()
	child, err := s.jobs.confinement.start(spec)
	pipes.closeChildEnds()
	if err != nil {
		return out, toolkit.Failf("Failed to execute: %w", startError(err))
	}
	running, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	v := &served{child: child, ctx: running, failed: failed, fetches: fetches}
	v.chunk = func(p servePart) error {
		raw, err := protocol.Marshal(p)
		if err != nil {
			return err
		}
		return call.Chunk(ctx, raw)
	}
	v.serve(pipes)
	if cause := context.Cause(running); cause != nil && ctx.Err() == nil {
		return out, protocol.NewFault(protocol.FaultTargetUnreachable, "the server was stopped: "+cause.Error())
	}
	exit, err := child.Wait()
	if err != nil {
		return out, toolkit.Failf("the end of the server is unknown: %w", err)
	}
	select {
	case <-child.Done():
		if note := child.TempNote(); note != "" {
			return out, toolkit.Failf("%s", note)
		}
	default: // a process could not be ended
	}
	return serveOut{ExitCode: &exit.Code, Signal: exit.Signal}, nil
}

// serve sends the output of the server, and returns when it has ended.
func (v *served) serve(p *pipes) {
	var readers crash.Group
	v.send(servePart{Started: !v.fetches})
	readers.Go(func() {
		v.forward(p.out, func(b []byte) servePart {
			if v.fetches {
				return servePart{Err: b}
			}
			return servePart{Out: b}
		})
	})
	readers.Go(func() { v.forward(p.err, func(b []byte) servePart { return servePart{Err: b} }) })
	alive := time.NewTicker(serveAlive)
	defer alive.Stop()
	for isRunning := true; isRunning; {
		select {
		case <-v.child.Exited():
			isRunning = false
		case <-v.ctx.Done():
			v.stop(p)
			isRunning = false
		case <-alive.C:
			v.send(servePart{})
		}
	}
	waitAll(reapLimit, v.child.Done())
	for _, f := range []*os.File{p.out, p.err} {
		f.SetReadDeadline(time.Now().Add(drainLimit)) // a process that left may still hold it
	}
	readers.Wait()
}

// stop ends the server as MCP wants it: its input is closed, then it gets SIGTERM, then it is killed.
func (v *served) stop(p *pipes) {
	p.in.Close()
	if waitAll(serveGrace, v.child.Exited()) {
		return
	}
	v.child.Terminate()
	waitAll(killAfter, v.child.Done())
	v.child.Kill()
	waitAll(reapLimit, v.child.Exited())
}

// send sends a part. When nobody reads it, the server ends.
func (v *served) send(p servePart) {
	v.sending.Lock()
	defer v.sending.Unlock()
	if context.Cause(v.ctx) != nil {
		return
	}
	if err := v.chunk(p); err != nil {
		v.failed(err)
	}
}

// forward sends what the server writes, until the end of the file.
func (v *served) forward(from io.Reader, part func([]byte) servePart) {
	buffer := make([]byte, serveChunk)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			v.send(part(buffer[:n]))
		}
		if err != nil {
			return
		}
	}
}

// pipes are the files between a server and its reader.
type pipes struct {
	in, out, err *os.File // our ends
	child        []*os.File
}

// openPipes makes the files of a program and sets them in spec.
func openPipes(spec *sandbox.Spec) (*pipes, error) {
	p := &pipes{}
	var errs [3]error
	spec.Stdin, p.in, errs[0] = os.Pipe()
	p.out, spec.Stdout, errs[1] = os.Pipe()
	p.err, spec.Stderr, errs[2] = os.Pipe()
	p.child = []*os.File{spec.Stdin, spec.Stdout, spec.Stderr}
	if err := cmp.Or(errs[:]...); err != nil {
		p.closeChildEnds()
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pipes) closeChildEnds() {
	for _, f := range p.child {
		f.Close() // a nil file only returns an error
	}
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.in, p.out, p.err} {
		f.Close()
	}
}
