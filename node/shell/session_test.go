package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

// newIdleSession returns the sessions of the tool command with one whose command does not run: the
// test ends it.
func newIdleSession() (*sessions, *session) {
	s := newSessions(nil, nil)
	c := &session{job: &job{id: "x", stop: make(chan stopReason, 1), done: make(chan struct{})}}
	c.expiry = time.AfterFunc(s.abandoned, func() { s.end(c) })
	s.open[c.job.id], s.count[""] = c, 1
	return s, c
}

// poll asks about the command without waiting, or for idle seconds.
func (s *sessions) poll(t *testing.T, idle float64) commandOut {
	t.Helper()
	out, err := s.call(t.Context(), access.Call{}, commandIn{CommandID: "x", IdleTimeout: &idle})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id] != nil
}

func TestCommandThatIsAskedAboutStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newIdleSession()
		for range 3 {
			time.Sleep(abandoned - time.Second)
			s.poll(t, 0)
		}
		time.Sleep(abandoned + time.Second)
		synctest.Wait()
		if s.has(c.job.id) || len(c.job.stop) != 1 {
			t.Error("a command that nobody asks about is not ended")
		}
	})
}

func TestEndOfACommandCanBeReadForAWhile(t *testing.T) {
	if grace != 30*time.Second {
		t.Errorf("time for reading the end of a command: got %s, want the 30 s of the specification", grace)
	}
	synctest.Test(t, func(t *testing.T) {
		s, c := newIdleSession()
		code := 3
		c.job.result.code, c.job.result.at = &code, time.Now()
		close(c.job.done)
		s.jobEnded(c.job)
		for range 3 { // reading the end does not delay that of the session
			if out := s.poll(t, 0); out.State != "exited" || *out.ExitCode != 3 {
				t.Errorf("got %+v, want the exit code 3", out)
			}
			time.Sleep(grace/3 - time.Second)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if s.has(c.job.id) || len(s.count) != 0 {
			t.Errorf("after the grace period: open %v, counts %v, want none", s.has(c.job.id), s.count)
		}
	})
}

func TestSessionOfAnEndNobodySawIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newIdleSession()
		c.job.result.at = time.Now()
		close(c.job.done)
		s.jobEnded(c.job)
		time.Sleep(grace + time.Second)
		synctest.Wait()
		if s.has(c.job.id) {
			t.Error("the session of a command that has ended stays open")
		}
	})
}

func TestOutputOfACallIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newIdleSession()
		defer c.expiry.Stop()
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			c.job.out.Write(bytes.Repeat([]byte("x"), maxCallOutput+1))
		}()
		out := s.poll(t, 600)
		if len(out.Output) != maxCallOutput || time.Since(began) > 2*time.Second {
			t.Errorf("got %d bytes after %v, want %d at once", len(out.Output), time.Since(began), maxCallOutput)
		}
		code := 0
		c.job.result.code, c.job.result.at = &code, time.Now()
		close(c.job.done)
		if out := s.poll(t, 0); out.Output != "x" || out.State != "exited" {
			t.Errorf("the rest: got %d bytes, %s; want 1, exited", len(out.Output), out.State)
		}
	})
}

func TestEndIsReportedWithTheLastOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newIdleSession()
		defer c.expiry.Stop()
		c.job.out.Write(bytes.Repeat([]byte("x"), maxCallOutput+1))
		code := 0
		c.job.result.code, c.job.result.at = &code, time.Now()
		close(c.job.done)
		for _, want := range []string{"running", "exited"} {
			if out := s.poll(t, 5); out.State != want || (out.ExitCode != nil) != (want == "exited") {
				t.Errorf("got %s, %v, want %s", out.State, out.ExitCode, want)
			}
		}
	})
}

func TestCallWaitsUntilThereIsNoOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ every, idle, least time.Duration }{
			{time.Hour, 5 * time.Second, 5 * time.Second},         // quiet
			{2 * time.Second, 5 * time.Second, maxWait},           // it never stops
			{2 * time.Second, 10 * time.Minute, 10 * time.Minute}, // and the caller has time
			{20 * time.Second, 5 * time.Second, 5 * time.Second},  // it stops for long enough
			{time.Hour, 600 * time.Second, 600 * time.Second},     // the maximum
			{time.Hour, 0, 0}, // no wait
			{time.Hour, 500 * time.Millisecond, time.Second / 2}, // a fraction
			{time.Hour, 1500 * time.Millisecond, 3 * time.Second / 2},
		} {
			s, x := newIdleSession()
			stop := make(chan struct{})
			go func() {
				for {
					select {
					case <-time.After(c.every):
						x.job.out.Write([]byte("."))
					case <-stop:
						return
					}
				}
			}()
			began := time.Now()
			s.poll(t, c.idle.Seconds())
			if took := time.Since(began); took < c.least || took > c.least+time.Second {
				t.Errorf("output every %v, idle_timeout %v: returned after %v, want %v", c.every, c.idle, took, c.least)
			}
			close(stop)
			x.expiry.Stop()
		}
	})
}

func TestSignalToAnEndedCommandSucceeds(t *testing.T) {
	for _, tty := range []bool{false, true} {
		for _, name := range signalNames {
			c := &session{job: &job{tty: tty, done: make(chan struct{})}}
			close(c.job.done)
			if err := c.act(commandIn{CommandID: "x", Signal: name}); err != nil {
				t.Errorf("the signal %s: got error %v, want none", name, err)
			}
		}
	}
}

func TestCommandThatCannotStartSaysWhy(t *testing.T) {
	for _, c := range []struct {
		err  error
		code protocol.FaultCode
	}{
		{toolkit.Failf("128 %w.", errTooMany), protocol.FaultResourceExhausted},
		{errClosing, protocol.FaultTargetUnreachable},
		{toolkit.Failf("Failed to execute: %w", fs.ErrPermission), protocol.FaultPermissionDenied},
		{errors.New("no memory"), protocol.FaultInternal},
	} {
		if f, ok := errors.AsType[*protocol.Fault](startFault(c.err)); !ok || f.Code != c.code || !strings.Contains(f.Message, fmt.Sprint(c.err)) {
			t.Errorf("%v: got %+v, want %s", c.err, f, c.code)
		}
	}
}
