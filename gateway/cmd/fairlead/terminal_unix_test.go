//go:build unix

package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"fairlead/gateway"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/node/setup"
)

// shownTerminal is a window in which fairlead terminal runs.
type shownTerminal struct {
	t        *testing.T
	keyboard *os.File // the window's side
	screen   *os.File // the program's side
	before   *term.State

	mu   sync.Mutex // guards text
	text bytes.Buffer
	err  chan error
}

// showTerminal runs fairlead terminal with its arguments in a window of 90×25.
func showTerminal(t *testing.T, ctx context.Context, o *options, args ...string) *shownTerminal {
	t.Helper()
	keyboard, screen, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &shownTerminal{t: t, keyboard: keyboard, screen: screen, err: make(chan error, 1)}
	pty.Setsize(keyboard, &pty.Winsize{Cols: 90, Rows: 25})
	if s.before, err = term.GetState(int(screen.Fd())); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	cmd := terminalCommand(o)
	cmd.SetIn(screen)
	cmd.SetOut(screen)
	cmd.SetErr(screen)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	go func() { s.err <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(func() { screen.Close(); keyboard.Close() })
	return s
}

func (s *shownTerminal) shows(text string) {
	s.t.Helper()
	polltest.Until(s.t, "the window shows "+text, func() bool { return strings.Contains(s.all(), text) })
}

// all returns what the window has shown so far.
func (s *shownTerminal) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *shownTerminal) press(keys string) { s.keyboard.WriteString(keys) }

// isOver waits for the end of the command, and checks that the window is as before.
func (s *shownTerminal) isOver() error {
	s.t.Helper()
	var err error
	select {
	case err = <-s.err:
	case <-time.After(time.Minute):
		s.t.Fatal("fairlead terminal did not end")
	}
	after, e := term.GetState(int(s.screen.Fd()))
	if e != nil || *after != *s.before {
		s.t.Errorf("the window's mode is different afterwards: %v", e)
	}
	return err
}

// withMachine runs a gateway with the machine box while f runs.
func withMachine(t *testing.T, f func(ctx context.Context, o *options)) {
	home := t.TempDir()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/sh")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	own := setup.Default("box", t.TempDir(), gateway.Version)
	own.Home = home
	l := localOptions{home: home, listen: porttest.Free(t), node: &own, log: slog.New(slog.DiscardHandler)}
	var wg sync.WaitGroup
	err := l.run(ctx, func(g *gateway.Gateway) {
		wg.Go(func() {
			defer cancel()
			f(ctx, &options{home: home, url: g.URL()})
		})
	})
	wg.Wait()
	if err != nil {
		t.Error(err)
	}
}

func TestTerminalRunsAShellAndAnEditor(t *testing.T) {
	withMachine(t, func(ctx context.Context, o *options) {
		s := showTerminal(t, ctx, o, "box")
		s.press("PS1='ready> '; echo $((6*7)) $TERM; stty size\r")
		s.shows("42 xterm-256color")
		s.shows("25 90")
		pty.Setsize(s.keyboard, &pty.Winsize{Cols: 100, Rows: 30})
		s.press("while [ \"$(stty size)\" != '30 100' ]; do sleep 0.05; done; echo re''sized\r")
		s.shows("resized")
		if editor, err := exec.LookPath("vi"); err == nil {
			s.press(editor + " -n\r")
			s.shows("\x1b[?1049h")
			s.press("ihello from vi\x1b")
			s.shows("hello from vi\x1b") // then it draws something else
			s.press(":q!\r")
			s.shows("\x1b[?1049l\x1b[23;0;0t")
		}
		s.press("echo out; exit 3\r")
		err := s.isOver()
		if got := exitCode(err, false); got != 3 {
			t.Errorf("got exit code %d (%v), want that of the shell, 3", got, err)
		}
	})
}

func TestTerminalIsLeftAndShownAgain(t *testing.T) {
	withMachine(t, func(ctx context.Context, o *options) {
		s := showTerminal(t, ctx, o, "box", "--", "echo started; exec cat")
		s.shows("started")
		s.press("here\r~.")
		if err := s.isOver(); err != nil {
			t.Fatal(err)
		}
		s.shows("fairlead terminal --attach ")
		_, id, _ := strings.Cut(s.all(), "--attach ")
		id = strings.TrimSpace(id)
		again := showTerminal(t, ctx, o, "--attach", id)
		again.shows("started")
		again.shows("here")
		watching := showTerminal(t, ctx, o, "--attach", id, "--watch")
		watching.shows("here")
		watching.press("~t")
		again.shows("types now")
		watching.press("mine\r")
		again.shows("mine")
		watching.press("~.")
		if err := watching.isOver(); err != nil {
			t.Error(err)
		}
		again.shows("You type now")
		again.press("\x04")
		if err := again.isOver(); err != nil {
			t.Errorf("cat has ended: got %v, want no error", err)
		}
	})
}

func TestKeysForTheCommandLine(t *testing.T) {
	for keys, want := range map[string]string{
		"~.":     ".",
		"a~.":    "i:a~.",
		"a\r~.":  "i:a\r .",
		"~~x":    "i:~x",
		"~x":     "i:~x",
		"~t~g":   "t g",
		"~a~dls": "a:true a:false i:ls",
	} {
		e := escapes{atStart: true}
		var got []string
		for _, b := range []byte(keys) {
			for _, a := range e.next([]byte{b}) {
				switch a.kind {
				case 0:
					got = append(got, ".")
				case protocol.TerminalInput:
					if n := len(got); n > 0 && strings.HasPrefix(got[n-1], "i:") {
						got[n-1] += string(a.input)
					} else {
						got = append(got, "i:"+string(a.input))
					}
				case protocol.TerminalAllow:
					got = append(got, map[bool]string{true: "a:true", false: "a:false"}[a.allow])
				default:
					got = append(got, string(a.kind))
				}
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: got %q, want %q", keys, text, want)
		}
	}
}
