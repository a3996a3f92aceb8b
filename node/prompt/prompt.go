// Package prompt asks the person at this machine's terminal.
package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"fairlead/gateway/peer/crash"
)

// ErrClosed means that nobody can be asked any more, because the input has ended.
var ErrClosed = errors.New("nobody is at the terminal")

// Asker asks one question after the other. It is safe for concurrent use. From the first question
// until the input ends, a goroutine reads the input; what was typed before a question does not answer
// it.
type Asker struct {
	out    io.Writer
	asking chan struct{} // held by the question that is asked
	lines  chan string
	closed chan struct{}
	read   func() // starts the goroutine
}

// New returns an asker for a terminal.
func New(in io.Reader, out io.Writer) *Asker {
	a := &Asker{out: out, asking: make(chan struct{}, 1), lines: make(chan string), closed: make(chan struct{})}
	a.read = sync.OnceFunc(func() {
		crash.Go(func() {
			defer close(a.closed)
			for s := bufio.NewScanner(in); s.Scan(); {
				select {
				case a.lines <- s.Text():
				default:
				}
			}
		})
	})
	return a
}

// Ask asks a question and returns whether the answer is yes. It fails with ErrClosed, or with the
// cause of ctx when the question is withdrawn.
func (a *Asker) Ask(ctx context.Context, question string) (yes bool, err error) {
	select {
	case a.asking <- struct{}{}:
		defer func() { <-a.asking }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	a.read()
	fmt.Fprintf(a.out, "%s [y/N] ", question)
	select {
	case line := <-a.lines:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	case <-a.closed:
		fmt.Fprintln(a.out)
		return false, ErrClosed
	case <-ctx.Done():
		fmt.Fprintln(a.out, "(the request was withdrawn)")
		return false, context.Cause(ctx)
	}
}
