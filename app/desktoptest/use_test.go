//go:build desktop

package desktoptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// measuredProgram is a program in use by a script, whose memory is measured.
type measuredProgram struct {
	*approvalProgram
	began  time.Time
	rounds int
}

// TestMeasureUse prints the private memory and the processor time of the program during scripted
// use, for as many minutes as FAIRLEAD_MINUTES says (packaging/measure-use.sh).
func TestMeasureUse(t *testing.T) {
	minutes, err := strconv.ParseFloat(os.Getenv("FAIRLEAD_MINUTES"), 64)
	if err != nil {
		t.Skip("FAIRLEAD_MINUTES is not set")
	}
	u := &measuredProgram{approvalProgram: startApprovalProgram(t), began: time.Now()}
	u.prepare()
	u.measureIdle("at rest after the start", time.Minute)
	u.began = time.Now()
	stop := make(chan struct{})
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		minute := time.NewTicker(time.Minute)
		defer minute.Stop()
		for {
			select {
			case <-stop:
				return
			case <-minute.C:
				u.report(fmt.Sprintf("minute %2.0f, round %d", time.Since(u.began).Minutes(), u.rounds))
			}
		}
	}()
	for time.Since(u.began).Minutes() < minutes {
		u.rounds++
		u.useOnce()
	}
	close(stop)
	<-sampled
	u.report(fmt.Sprintf("after %.0f minutes and %d rounds", time.Since(u.began).Minutes(), u.rounds))
	u.measureIdle("at rest after the use", time.Minute)
	u.closeToTray()
	u.measureIdle("in the tray", 2*time.Minute) // the last memory is released after 75 seconds
	began := time.Now()
	u.chooseTray("Open")
	u.waitWindow(mainWindow)
	t.Logf("%-36s %6d ms", "from the tray to the window", time.Since(began).Milliseconds())
	u.screenshot("shown-again")
}

// measureIdle waits and prints memory, and the processor time over the next minute.
func (u *measuredProgram) measureIdle(name string, wait time.Duration) {
	u.t.Helper()
	time.Sleep(wait)
	u.report(name)
	before := u.cpuTicks()
	time.Sleep(time.Minute)
	u.t.Logf("%-36s %6.2f %% of a core", name, float64(u.cpuTicks()-before)/60)
}

// cpuTicks returns the processor time of the program in hundredths of a second.
func (u *measuredProgram) cpuTicks() int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", u.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the program's name may contain spaces
	f := strings.Fields(after)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}

// report prints the private memory of the program, in MB: in all, and by kind of mapping.
// The C library's heap includes most of the graphics driver's memory; anonymous mappings hold the
// heap of Go.
func (u *measuredProgram) report(name string) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", u.cmd.Process.Pid))
	if err != nil {
		u.t.Log(err)
		return
	}
	defer f.Close()
	kinds := map[string]int{}
	kind, sum := "", 0
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.Fields(s.Text())
		switch {
		case !strings.HasSuffix(line[0], ":"): // the first line of a mapping, with its file
			switch kind = "files"; {
			case len(line) < 6:
				kind = "anonymous"
			case line[5] == "[heap]":
				kind = "C heap"
			}
		case strings.HasPrefix(line[0], "Private_"):
			n, _ := strconv.Atoi(line[1])
			kinds[kind] += n
			sum += n
		}
	}
	mb := func(kb int) float64 { return float64(kb) / 1024 }
	u.t.Logf("%-36s %6.1f MB private: anonymous %.1f, C heap %.1f, files %.1f", name, mb(sum), mb(kinds["anonymous"]), mb(kinds["C heap"]), mb(kinds["files"]))
}

// prepare connects a model and fills some chats and the workspace.
func (u *measuredProgram) prepare() {
	u.t.Helper()
	models := talkingServer(u.t)
	for path, value := range map[string]any{
		"ui.theme": "dark", "providers.compatible.baseUrl": models.URL + "/v1",
		"model": map[string]string{"provider": "compatible", "id": "paper-model"},
	} {
		if err := setConfig(u.c, path, value); err != nil {
			u.t.Fatal(err)
		}
	}
	for i := range 40 {
		text := strings.Repeat(fmt.Sprintf("func f%d() int { return %d }\n", i, i), 50)
		if err := os.WriteFile(filepath.Join(u.workspace, fmt.Sprintf("part%02d.go", i)), []byte("package parts\n\n"+text), 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
	u.waitFor("the end of the first run", func() bool { return setConfig(u.c, "ui.firstRunDone", true) == nil })
	for _, name := range []string{"red", "green", "blue"} {
		u.sendAndWait(protocol.SessionKey("agent:main:"+name), name+" chat")
	}
	name := "Main chat"
	if _, err := client.Call(context.Background(), u.c, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &name}); err != nil {
		u.t.Fatal(err)
	}
}

// useOnce is one round of use. The places of buttons are found by reading the screen.
func (u *measuredProgram) useOnce() {
	u.t.Helper()
	u.activateMain()
	u.click(u.waitTextIn(mainWindow, "Main chat", sidebar))
	u.useChat()
	for _, title := range []string{"Files", "Transfers", "Schedule", "Activity", "Needs you", "Machines", "Approvals and rules", "Skills", "Channels", "Tools", "Connected apps"} {
		u.openPageOfMain(title)
		time.Sleep(time.Second)
	}
	u.activateMain()
	u.keys("ctrl+slash")
	time.Sleep(time.Second)
	u.useSearch()
	u.useSettings()
	u.useWindows()
	for _, theme := range []string{"light", "dark"} {
		if err := setConfig(u.c, "ui.theme", theme); err != nil {
			u.t.Fatal(err)
		}
		u.waitFor("a "+theme+" window", func() bool { return (u.brightness(mainWindow) > 0.7) == (theme == "light") })
	}
	u.closeToTray()
	u.chooseTray("Open")
	u.waitWindow(mainWindow)
}

// useChat asks for a long answer and a command, allows the command, runs an own command, and
// scrolls.
func (u *measuredProgram) useChat() {
	u.t.Helper()
	u.activateMain()
	u.typeText("please do it " + strconv.Itoa(u.rounds))
	u.keys("Return")
	u.clickAllowOnce()
	u.waitNoWindow(question)
	u.waitLast("Step 59")
	u.activateMain()
	u.typeText("!seq 1 3000")
	u.keys("Return")
	u.waitLast("3000")
	w := u.activateMain()
	u.run("xdotool", "mousemove", strconv.Itoa(w.x+w.w*2/3), strconv.Itoa(w.y+w.h/2), "click", "--repeat", "40", "--delay", "40", "4", "click", "--repeat", "40", "--delay", "40", "5")
}

// waitLast waits until the last message of the main chat contains a text.
func (u *measuredProgram) waitLast(text string) {
	u.t.Helper()
	u.waitFor("a last message with "+text, func() bool {
		all := u.messages(protocol.MainSession)
		return len(all) > 0 && strings.Contains(all[len(all)-1].Content.Text(), text)
	})
}

// useSearch searches all messages and opens a result.
func (u *measuredProgram) useSearch() {
	u.t.Helper()
	u.keys("ctrl+shift+f")
	u.typeText("paper")
	results := func(w window) window { return window{w.id, w.x + 240, w.y + 120, w.w - 240, w.h - 120} }
	u.click(u.waitTextIn(mainWindow, "Main chat", results))
	time.Sleep(time.Second)
}

// useSettings opens each page of the settings.
func (u *measuredProgram) useSettings() {
	u.t.Helper()
	u.activateMain()
	u.keys("ctrl+comma")
	for range 13 {
		u.keys("ctrl+Next")
		time.Sleep(700 * time.Millisecond)
	}
	u.keys("Escape", "Escape")
}

// useWindows opens and closes a chat's own window, and shows each chat in the main window.
func (u *measuredProgram) useWindows() {
	u.t.Helper()
	const own = "^red chat – Fairlead$"
	u.activateMain()
	u.waitFor("the menu of the chat", func() bool { // a click that comes in a long frame is lost
		u.rightClick(u.waitTextIn(mainWindow, "red chat", sidebar))
		time.Sleep(time.Second)
		at, ok := find(u.readOnce(u.activateMain(), ""), "new window")
		if ok {
			u.click(at)
		}
		return ok
	})
	u.activate(u.waitWindow(own))
	time.Sleep(time.Second)
	u.keys("ctrl+w")
	u.waitNoWindow(own)
	for _, name := range []string{"green", "blue", "red"} {
		u.click(u.waitTextIn(mainWindow, name+" chat", sidebar).Add(image.Pt(0, 2)))
		time.Sleep(time.Second)
	}
}

func (u *measuredProgram) closeToTray() {
	u.t.Helper()
	u.waitFor("the main window to close", func() bool { // a key can get lost on a busy machine
		if _, open := u.windowNamed(mainWindow); !open {
			return true
		}
		u.activateMain()
		u.keys("ctrl+w")
		time.Sleep(time.Second)
		return false
	})
}

// talkingServer implements the OpenAI protocol. It streams long answers; a message that begins with
// "please" also makes it call Bash.
func talkingServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			w.Write([]byte(`{"data":[{"id":"paper-model","context_length":1000000}]}`))
			return
		}
		var in struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			} `json:"messages"`
			Tools []struct {
				Function struct{ Name string } `json:"function"`
			} `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) == 0 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(v any) {
			raw, _ := json.Marshal(map[string]any{"choices": []any{v}})
			fmt.Fprintf(w, "data: %s\n\n", raw)
			w.(http.Flusher).Flush()
		}
		text := func(s string) { say(map[string]any{"delta": map[string]string{"content": s}}) }
		last := in.Messages[len(in.Messages)-1]
		for _, tool := range in.Tools {
			if strings.HasSuffix(tool.Function.Name, "__Bash") && last.Role == "user" && strings.Contains(string(last.Content), "please") {
				text("I will look at the files.")
				say(map[string]any{"delta": map[string]any{"tool_calls": []any{map[string]any{
					"index": 0, "id": "call_" + protocol.NewID(), "type": "function",
					"function": map[string]string{"name": tool.Function.Name, "arguments": `{"command":"ls -la && cat *.go | head -400"}`},
				}}}})
				say(map[string]any{"delta": struct{}{}, "finish_reason": "tool_calls"})
				fmt.Fprint(w, "data: [DONE]\n\n")
				return
			}
		}
		text("# The paper model's answer\n\n")
		for i := range 60 {
			text(fmt.Sprintf("Step %d is **important**, *because* `part%02d.go` is read → then written. ✅\n\n", i, i))
			if i%20 == 19 {
				text("```go\nfunc main() {\n\tfmt.Println(\"paper\")\n}\n```\n\n| file | lines |\n|---|---:|\n| part.go | 52 |\n\n")
			}
			time.Sleep(30 * time.Millisecond)
		}
		say(map[string]any{"delta": struct{}{}, "finish_reason": "stop"})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}
