package gateways

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"fairlead/gateway/peer/crash"
)

// Open implements settings.Gateways. An open window is brought to the front.
func (g *Gateways) Open(id string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(program, "--home", g.home, "--join", id, "--with-parent")
	stdin, err := cmd.StdinPipe() // the window closes when this pipe does
	var counts io.Reader
	if err == nil {
		counts, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("opening a window: %w", err)
	}
	open, closeWindow := context.WithCancel(g.ctx)
	g.mu.Lock()
	first := g.windows[id] == nil // a second process only brings the first one to the front
	if first {
		g.windows[id] = closeWindow
	}
	g.mu.Unlock()
	crash.WhenDone(open, func() { stdin.Close() })
	g.wg.Go(func() {
		readCounts(counts, func(n int) { g.setPending(id, n) })
		if first {
			g.setPending(id, 0) // the number of approvals is unknown without the window
		}
		if err := cmd.Wait(); err != nil && open.Err() == nil {
			g.log.Warn("The window of a remote gateway exited", "err", err)
		}
		closeWindow()
		g.Nodes.Changed.Update(func(n *int) { *n++ }) // it may have learned that the pairing has ended
		if first {
			g.mu.Lock()
			delete(g.windows, id)
			g.mu.Unlock()
		}
	})
	return nil
}
