package supervisor

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
)

const hello = "supervisor"

// Serve runs a helper: it starts commands for the node at the other end of descriptor 3 and is the
// parent of all processes that they leave behind. When the node has ended for any reason, Serve
// ends them all and returns. It must be called on the process' first thread, which never ends and
// so must never be restricted.
func Serve() error {
	runtime.LockOSThread()
	// Descriptors that the node itself inherited unknowingly must not reach a command.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		for fd := 3; fd < 1024; fd++ {
			unix.CloseOnExec(fd)
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphaned processes: %w", err)
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), minProcessors)) // see forkWatched
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGCHLD)
	// Only the node decides when the helper ends, not a program that signals everything at logout.
	// A handler, unlike ignoring, is not inherited.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)

	w, err := newWire(os.NewFile(3, "node"))
	if err != nil {
		return err
	}
	var set Settings
	if err := w.receive(&set); err != nil {
		return err
	}
	if err := w.send(hello); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	v := &server{wire: w, null: null, confiner: newConfiner(set), sessions: map[uint64]*session{}, byPID: map[int]*session{}}
	defer v.confiner.close()
	requests := make(chan incoming)
	crash.Go(func() {
		defer close(requests)
		for {
			var o incoming
			if w.receive(&o.request) != nil {
				return
			}
			if o.Start != nil { // here, where they are received: the next request may bring others
				o.files, o.err = w.takeFiles(count(o.Start.Files))
			}
			requests <- o
		}
	})
	v.run(requests, ends)
	return nil
}

// incoming is a request with the files that came with it.
type incoming struct {
	request
	files []*os.File
	err   error // they were not received
}

// run is the only goroutine that starts, signals and reaps, so that no process number is used after
// it was reaped.
func (v *server) run(requests <-chan incoming, ends <-chan os.Signal) {
	tick := time.NewTimer(time.Hour)
	defer tick.Stop()
	var kill <-chan time.Time
	for {
		select {
		case o, ok := <-requests:
			if !ok {
				// The node has ended.
				requests = nil
				v.isEnding = true
				signalAll(tree(children(os.Getpid())...), unix.SIGTERM)
				kill = time.After(Grace)
				break
			}
			v.handle(o)
		case <-ends:
		case <-tick.C:
		case <-kill:
			for _, s := range v.sessions {
				s.isKilling, s.due = true, time.Now()
			}
		}
		none := v.reap()
		if v.isEnding && none {
			return
		}
		if next := v.advance(none); next > 0 {
			tick.Reset(next)
		}
	}
}
