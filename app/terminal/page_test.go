package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// testPage is a page of a machine with a connection that the test answers.
type testPage struct {
	*Page
	host   *pagetest.Host
	conn   *conn
	window fyne.Window
}

func newTestPage(t *testing.T, mode style.Mode, width float32, list ...protocol.Terminal) *testPage {
	t.Helper()
	ctx, _ := pagetest.Start(t, mode)
	p := &testPage{host: &pagetest.Host{}, conn: newConn()}
	m := newTestModel(t, &dialer{conns: []*conn{p.conn}}, list...)
	m.Feed.Status.Update(func(s *feed.Status) { s.Loaded, s.Connected = true, true })
	m.Feed.Machines.Update(func(l *feed.MachineList) {
		*l = feed.MachineList{{ID: "tower", Name: "The tower", Online: true, Terminals: true}, {ID: "nas", Name: "The box"}}
	})
	p.Page = newPage(ctx, host.Env{Host: p.host, Feed: m.Feed}, m)
	p.machine = "tower"
	p.Page.show()
	p.window = pagetest.Window(t, p.Box, width, 560)
	return p
}

// start views the terminal, and applies frames of it.
func (p *testPage) start(t *testing.T, state protocol.TerminalState, output string) {
	t.Helper()
	p.m.State.Update(func(s *State) { s.Phase, s.Now = Shown, state })
	p.Page.show() // with its buttons, which take room
	go p.m.View(p.ctx, protocol.TerminalConnectParams{Node: "tower", ID: "t1"})
	cols, rows := p.display.view.fits()
	if state.Cols == 0 {
		state.Cols, state.Rows = cols, rows
	}
	p.conn.send(protocol.TerminalStateChanged, state)
	p.conn.send(protocol.TerminalOutput, []byte(output))
	deadline := time.Now().Add(20 * time.Second)
	for p.m.State.Get().Phase != Shown || len(p.conn.toViewer) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("state: got %+v, want a shown terminal", p.m.State.Get())
		}
		time.Sleep(time.Millisecond)
	}
	<-p.m.Changed
	p.Page.show()
}

// screenText returns the rows of the widget.
func (p *testPage) screenText() string {
	var rows []string
	for _, l := range p.display.view.lines {
		rows = append(rows, strings.TrimRight(textOf(l.cells), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

const colourful = "\x1b[1;32mann@tower\x1b[0m:\x1b[1;34m~/projects\x1b[0m$ ls --color\r\n" +
	"\x1b[34mdocs\x1b[0m  \x1b[32mbuild.sh\x1b[0m  notes.txt  \x1b[36mlink\x1b[0m  \x1b[31marchive.tar\x1b[0m  \x1b[33myellow\x1b[0m \x1b[35mmagenta\x1b[0m\r\n" +
	"┌──────────┬─────┐\r\n│ 日本語   │ é ü │\r\n├──────────┼─────┤\r\n│ \x1b[7m inverse \x1b[0m│ \x1b[2mdim\x1b[0m │\r\n└──────────┴─────┘\r\n" +
	"\x1b[41m red \x1b[42m green \x1b[43m yellow \x1b[44m blue \x1b[45m magenta \x1b[46m cyan \x1b[47m white \x1b[40m black \x1b[0m\r\n" +
	"\x1b[38;5;208mpalette\x1b[0m \x1b[38;2;90;90;90mdark grey\x1b[0m \x1b[38;2;230;230;230mlight grey\x1b[0m \x1b[48;2;255;250;200mpaper\x1b[0m \x1b[4munder\x1b[0m \x1b[9mstruck\x1b[0m \x1b[1mbold\x1b[0m\r\n" +
	"\x1b]8;;https://example.com/\x1b\\a link\x1b]8;;\x1b\\ and ██████░░░░ 60 % 👍\r\n$ "

func TestPageShowsTheScreen(t *testing.T) {
	for _, mode := range []style.Mode{style.Dark, style.Light} {
		for _, width := range []float32{480, 900} {
			t.Run(fmt.Sprint(mode, width), func(t *testing.T) {
				p := newTestPage(t, mode, width, protocol.Terminal{ID: "t1", Node: "tower"}, protocol.Terminal{ID: "t2", Node: "tower", Command: "make -j8", CommandID: "c"})
				p.m.Load(t.Context())
				p.window.Canvas().Focus(p.display)
				p.start(t, protocol.TerminalState{Typing: true, Viewers: 2}, colourful)
				if got, want := p.screenText(), "ann@tower:~/projects$ ls --color"; !strings.HasPrefix(got, want) {
					t.Errorf("screen: got %q, want %q first", got, want)
				}
				pagetest.Shows(t, p.Box, "You type. 1 other window watches.", "Give back", "make -j8 (the agent)", "New terminal", "Close")
				pagetest.Shot(t, p.window, fmt.Sprint("terminal-", mode, "-", width))
			})
		}
	}
}

func TestKeysAreSentToTheProgram(t *testing.T) {
	p := newTestPage(t, style.Dark, 800)
	p.start(t, protocol.TerminalState{Typing: true}, "\x1b[?1h$ ")
	p.window.Canvas().Focus(p.display)
	p.display.TypedRune('ä')
	p.display.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	p.display.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyR, Modifier: fyne.KeyModifierControl})
	p.display.TypedShortcut(&fyne.ShortcutUndo{})
	var got string
	for !strings.HasSuffix(got, "\x1a") {
		if f := <-p.conn.sent; f.kind == protocol.TerminalInput {
			got += string(f.body)
		}
	}
	if want := "ä\x1bOA\x12\x1a"; got != want {
		t.Errorf("input: got %q, want %q", got, want)
	}
}

func TestOpenedTerminalHasTheKeyboard(t *testing.T) {
	p := newTestPage(t, style.Dark, 800)
	p.Focus(p.window.Canvas())
	p.openTerminal("t1")
	if got := p.window.Canvas().Focused(); got != p.display {
		t.Errorf("focused: got %T, want the terminal", got)
	}
}

func TestWheelShowsHistory(t *testing.T) {
	p := newTestPage(t, style.Dark, 800)
	_, rows := p.display.view.fits()
	p.start(t, protocol.TerminalState{Typing: true}, strings.Repeat("line\r\n", rows)+"first of the last\r\nend")
	if got := p.screenText(); !strings.HasSuffix(got, "end") {
		t.Fatalf("screen: got %q, want the end last", got)
	}
	p.display.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 2*p.display.view.cell.Height)})
	if got := p.screenText(); strings.Contains(got, "end") {
		t.Errorf("screen after the wheel: got %q, want the lines before", got)
	}
	p.display.TypedRune('x')
	if got := p.screenText(); !strings.HasSuffix(got, "end") {
		t.Errorf("screen after a key: got %q, want the end again", got)
	}
}

func TestSelectedTextIsCopied(t *testing.T) {
	p := newTestPage(t, style.Dark, 800)
	cols, _ := p.display.view.fits()
	p.start(t, protocol.TerminalState{Typing: true}, "first  \r\n"+strings.Repeat("x", cols)+"yz\r\n日本 word end")
	at := func(x, y float32) fyne.Position {
		c := p.display.view.cell
		return fyne.NewPos(inset+x*c.Width+1, inset+y*c.Height+1)
	}
	p.display.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at(2, 0)}, Button: desktop.MouseButtonPrimary})
	p.display.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: at(4, 3)}})
	p.display.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyC, Modifier: fyne.KeyModifierControl | fyne.KeyModifierShift})
	p.display.DoubleTapped(&fyne.PointEvent{Position: at(6, 3)})
	p.display.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyC, Modifier: fyne.KeyModifierControl | fyne.KeyModifierShift})
	want := fmt.Sprint([]string{"copy rst\n" + strings.Repeat("x", cols) + "yz\n日本", "copy word"})
	if got := fmt.Sprint(p.host.Did); got != want {
		t.Errorf("copied: got %q, want %q", got, want)
	}
}

func TestOnlyChangedRowsAreDrawn(t *testing.T) {
	p := newTestPage(t, style.Dark, 800)
	p.start(t, protocol.TerminalState{Typing: true}, "one\r\ntwo\r\n\x1b[?25l")
	var drawn []int
	p.display.view.redraw = func(i int) { drawn = append(drawn, i) }
	p.display.view.show()
	if len(drawn) > 0 {
		t.Errorf("rows drawn without a change: got %v, want none", drawn)
	}
	p.m.apply(protocol.TerminalOutput, []byte("three"))
	p.display.view.show()
	if got := fmt.Sprint(drawn); got != "[2]" {
		t.Errorf("rows drawn after a change of the third: got %v, want it alone", got)
	}
}

func TestWatcherTakesOver(t *testing.T) {
	p := newTestPage(t, style.Light, 480)
	p.start(t, protocol.TerminalState{Typist: "Phone", Viewers: 2, Cols: 200, Rows: 60}, "\x1b[60Hbottom")
	pagetest.Shows(t, p.Box, "“Phone” types, you watch. The screen is larger than this window.")
	if got := p.screenText(); !strings.HasSuffix(got, "bottom") {
		t.Errorf("screen: got %q, want the row of the cursor", got)
	}
	pagetest.Shot(t, p.window, "terminal-watching")
	pagetest.Button(t, p.Box, "Take over").Tapped(nil)
	for f := range p.conn.sent {
		if f.kind == protocol.TerminalTakeOver {
			break
		}
	}
}

func TestEndedTerminalStartsAgain(t *testing.T) {
	p := newTestPage(t, style.Dark, 480)
	p.start(t, protocol.TerminalState{Typing: true}, "$ exit")
	code := 1
	p.m.apply(protocol.TerminalEnded, fmt.Appendf(nil, `{"exitCode":%d}`, code))
	p.Page.show()
	pagetest.Shows(t, p.Box, "The program has ended with exit code 1.", "Start again")
	pagetest.Shot(t, p.window, "terminal-ended")
}

func TestOfflineMachineHasNoScreen(t *testing.T) {
	p := newTestPage(t, style.Dark, 480)
	p.machine = "nas"
	p.Page.show()
	pagetest.Shows(t, p.Box, "The box is offline")
	pagetest.Shot(t, p.window, "terminal-offline")
	p.Back()
	if got := fmt.Sprint(p.host.Did); !strings.Contains(got, "nas") {
		t.Errorf("the way back: got %v, want the machine", got)
	}
}

func TestPageWithoutAMachineChoosesOne(t *testing.T) {
	machines := feed.MachineList{{ID: "a", Online: true}, {ID: "b", Online: true, Terminals: true}, {ID: "here", Online: true, Terminals: true, Local: true}, {ID: "c", Terminals: true}}
	if got := firstMachine(machines); got != "here" {
		t.Errorf("machine: got %q, want this computer", got)
	}
	if got := firstMachine(machines[:2]); got != "b" {
		t.Errorf("machine without this computer: got %q, want the first with terminals", got)
	}
	p := newTestPage(t, style.Light, 480)
	p.machine = ""
	p.m.Feed.Machines.Update(func(l *feed.MachineList) { *l = nil })
	p.OpenAt(nil)
	p.Page.show()
	pagetest.Shows(t, p.Box, "No machine has terminals")
}
