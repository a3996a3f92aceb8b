//go:build desktop

// Command frames measures frame times: it opens a real window with a chat of 20,000 messages,
// scrolls through it, streams an answer and selects text, and prints how long frames took, from the
// event through layout and painting until the picture was passed to the screen. The time spent
// waiting for the toolkit's next tick is excluded. It also prints the processor time of all threads
// per frame, which is more meaningful on a busy machine.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chat"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// limit is the maximum time of a frame.
const limit = 33 * time.Millisecond

func main() {
	n := flag.Int("n", 600, "turns of the wheel for each way of scrolling, and parts of the streamed answer")
	profile := flag.String("cpuprofile", "", "write a profile of the processor to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "frames:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	a := app.NewWithID("app.fairlead.frames")
	a.Settings().SetTheme(style.New(style.Dark, 1))
	w := a.NewWindow("Frames")
	pane := chat.New(context.Background(), host.Env{Feed: feed.New(), Machines: &style.Machines{}, Prefs: new(preferences.Store)}, nil, nil)
	m := newMeter(w, pane)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(880, 760))
	shown := talk(10_000)
	pane.Update(shown)
	a.Lifecycle().SetOnStarted(func() {
		go func() {
			time.Sleep(time.Second) // the first frames compile shaders and draw glyphs
			tr := findTranscript(pane)
			m.run("wheel, upwards", *n, func(int) { tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 60)}) })
			m.run("wheel, back", *n, func(int) { tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -60)}) })
			m.run("page up", *n/4, func(int) { tr.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageUp}) })
			m.run("to far places", *n/8, func(i int) { tr.ScrollTo(tr.Items()[i*7919%len(tr.Items())].Key, 0) })
			answer := []rune(strings.Repeat(strings.Join(answers, "\n\n")+"\n\n", 8))
			run := protocol.RunInfo{RunID: "streamed", SessionKey: "k", State: protocol.RunStreaming, StartedAt: time.Now().UnixMilli()}
			fyne.DoAndWait(func() { tr.ScrollToEnd() })
			m.run("streaming", *n, func(i int) {
				run.Text = string(answer[:min(8*i+1, len(answer))])
				shown.Runs = []protocol.RunInfo{run}
				pane.Update(shown)
			})
			fyne.DoAndWait(tr.Selection.SelectAll)
			m.run("selecting text", *n, func(i int) {
				tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(float32(200+i%400), float32(40+i*7%600))}})
			})
			fyne.DoAndWait(tr.DragEnd)
			fyne.Do(a.Quit)
		}()
	})
	w.ShowAndRun()
}

// meter detects when the painting of a frame begins: its raster is the first object of the window,
// and the painter requests its picture first.
type meter struct {
	first   *canvas.Raster
	painted time.Time
}

func newMeter(w fyne.Window, o fyne.CanvasObject) *meter {
	m := &meter{}
	m.first = canvas.NewRaster(func(w, h int) image.Image {
		m.painted = time.Now()
		return image.NewUniform(color.Black)
	})
	m.first.Resize(fyne.NewSize(1, 1)) // small, to have no effect on the measurement
	w.SetContent(container.NewStack(container.NewWithoutLayout(m.first), o))
	return m
}

// run changes the window n times and prints the frame times.
func (m *meter) run(name string, n int, change func(i int)) {
	var frames, layouts, work []time.Duration
	for i := range n {
		var layout, before time.Duration
		fyne.DoAndWait(func() {
			began := time.Now()
			before = processor()
			change(i)
			layout = time.Since(began)
			m.painted = time.Time{}
			m.first.Refresh()
		})
		for done := false; !done; { // until a callback runs after the painting
			fyne.DoAndWait(func() {
				if !m.painted.IsZero() {
					frames, done = append(frames, layout+time.Since(m.painted)), true
					work = append(work, processor()-before)
				}
			})
			if !done {
				time.Sleep(time.Millisecond)
			}
		}
		layouts = append(layouts, layout)
	}
	fmt.Printf("%-14s %4d frames: %s; processor %s; layout %s\n", name, n, sum(frames), sum(work), sum(layouts))
}

// sum summarizes durations in one line.
func sum(d []time.Duration) string {
	slices.Sort(d)
	over := 0
	for _, x := range d {
		if x > limit {
			over++
		}
	}
	at := func(p float64) time.Duration { return d[int(float64(len(d)-1)*p)].Round(100 * time.Microsecond) }
	return fmt.Sprintf("p50 %s p99 %s longest %s, %d over %s", at(0.5), at(0.99), at(1), over, limit)
}

// processor returns the processor time of all threads of the program.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// findTranscript finds the list of messages in the pane.
func findTranscript(o fyne.CanvasObject) *transcript.View {
	switch o := o.(type) {
	case *transcript.View:
		return o
	case *fyne.Container:
		for _, c := range o.Objects {
			if t := findTranscript(c); t != nil {
				return t
			}
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			if t := findTranscript(c); t != nil {
				return t
			}
		}
	}
	return nil
}

// answers are answers of the agent, in Markdown.
var answers = []string{
	strings.Repeat("Because a **semicolon** is missing in `parse.c`, and the *next* line hides it. ", 6),
	"Two things:\n\n1. The build reads the old header.\n2. The cache was not cleared.\n\n```go\nfunc main() {\n\tfmt.Println(\"hello\")\n\tfor i := range 10 {\n\t\twork(i)\n\t}\n}\n```\n\nThat is all.",
	"| file | lines | state |\n|---|---:|---|\n| parse.c | 812 | broken |\n| lex.c | 311 | good |\n| main.c | 90 | good |\n\nSee [the manual](https://example.org/manual).",
	"# Plan\n\n- read the log\n- find the line\n- mend it\n\n> Nothing is changed before you allow it.",
}

// talk returns 2n realistic messages: questions, answers with Markdown, code and tables,
// and tool calls.
func talk(n int) conversation.State {
	s := conversation.State{Session: protocol.SessionEntry{SessionKey: "k", Title: "Frames"}, Nodes: []protocol.NodeInfo{{ID: "server", Online: true}}}
	now := time.Now().Add(-time.Hour)
	for i := range n {
		at, id := now.Add(time.Duration(i)*time.Millisecond).UnixMilli(), fmt.Sprint(i)
		run := protocol.RunID("r" + id)
		s.Messages = append(s.Messages, protocol.Message{
			ID: protocol.MessageID("u" + id), Role: protocol.RoleUser, Timestamp: at,
			Content: protocol.Content{protocol.Text("Why does the build fail on the server, try " + id + "?")},
		})
		answer := protocol.Content{protocol.Text(answers[i%len(answers)])}
		if i%5 == 0 {
			args, _ := json.Marshal(map[string]string{"command": "make -j4 2>&1 | tail"})
			answer = append(answer, protocol.Block{Type: protocol.BlockToolCall, ID: "c" + id, Name: "server__Bash", Arguments: args})
		}
		s.Messages = append(s.Messages, protocol.Message{ID: protocol.MessageID("a" + id), RunID: run, Role: protocol.RoleAssistant, Timestamp: at, Content: answer})
		if i%5 == 0 {
			s.Messages = append(s.Messages, protocol.Message{
				ID: protocol.MessageID("t" + id), Role: protocol.RoleToolResult, ToolCallID: "c" + id, ToolName: "server__Bash",
				Content: protocol.Content{protocol.Text(strings.Repeat("cc -O2 -c parse.c\n", 12))},
			})
		}
	}
	return s
}
