//go:build desktop

package desktoptest

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// program is the built desktop program under test.
type program struct {
	*desktop
	cmd             *exec.Cmd
	home, workspace string
	addr            string // listening address of its gateway
}

func startProgram(d *desktop) *program {
	d.t.Helper()
	p := &program{desktop: d, home: filepath.Join(d.t.TempDir(), "home"), workspace: filepath.Join(d.t.TempDir(), "work")}
	if err := os.MkdirAll(p.workspace, 0o755); err != nil {
		d.t.Fatal(err)
	}
	for name, text := range map[string]string{"README.md": "# A project\n\nWith one line.\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(p.workspace, name), []byte(text), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	p.addr = porttest.Free(d.t)
	os.Setenv("FAIRLEAD_HOME", p.home)
	p.launch()
	return p
}

func programPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("FAIRLEAD_DESKTOP")
	if path == "" {
		t.Fatal("FAIRLEAD_DESKTOP must name the built program")
	}
	return path
}

// waitExit waits until the program ends, and fails if that is an error.
func (p *program) waitExit() {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			p.t.Errorf("the program ended with %v, want no error", err)
		}
	case <-time.After(waitTimeout):
		p.t.Fatal("the program does not end")
	}
}

func (p *program) launch() {
	p.t.Helper()
	p.cmd = exec.Command(programPath(p.t), "--workspace", p.workspace, "--listen", p.addr)
	// exports go to the person's folder
	p.cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+p.home, "HOME="+filepath.Dir(p.workspace))
	log, err := os.Create(filepath.Join(p.shots, "program.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		text, err := os.ReadFile(log.Name())
		if err != nil {
			p.t.Error(err)
		}
		// the toolkit logs these by itself where the home folder is new, or LANG is C
		for _, complaint := range []string{"fyne cache", "Error parsing user locale"} {
			if strings.Contains(string(text), complaint) {
				p.t.Errorf("the program's log has %q:\n%s", complaint, text)
			}
		}
	})
	p.waitWindow(mainWindow)
	p.t.Logf("window after %s", time.Since(began).Round(10*time.Millisecond))
}

// startAgain starts the program once more, which shows the window of the first, with the link if
// there is one.
func (p *program) startAgain(link ...string) {
	p.t.Helper()
	cmd := exec.Command(programPath(p.t), link...)
	cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+p.home)
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("the second start: %v", err)
	}
}

// gateway connects to the program's gateway with the token from the keychain, as another client
// would.
func (p *program) gateway() *client.Client {
	p.t.Helper()
	store := keychain.Open(p.home)
	if store.Where() != keychain.Keychain {
		p.t.Fatalf("secrets are in %s, not in the keychain", store.Where())
	}
	token, err := store.Get(gateway.TokenName)
	for end := time.Now().Add(3 * time.Minute); err != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		token, err = store.Get(gateway.TokenName) // the window appears before the gateway is ready
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return dialGateway(p.desktop, p.addr, token.Reveal())
}

// dialGateway connects to a gateway on this computer.
func dialGateway(d *desktop, addr, token string) *client.Client {
	d.t.Helper()
	up := make(chan struct{}, 4)
	c := client.New(client.Options{
		URL: "ws://" + addr + "/ws", Token: token, Logger: slog.New(slog.DiscardHandler),
		Connect: func() protocol.ConnectParams { return gateway.ClientParams("desktop-test") },
		OnUp:    func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	d.t.Cleanup(func() { cancel(); <-done })
	select {
	case <-up:
	case <-time.After(waitTimeout):
		d.t.Fatal("the gateway does not answer")
	}
	return c
}

// clickAllowOnce and clickDeny click the buttons at the two ends of the dialog's last line. Allow is
// enabled after two seconds, and changes its look then. One click is enough although the window
// opens without the keyboard.
func (p *program) clickAllowOnce() { p.t.Helper(); p.clickAction("Allow once") }

func (p *program) clickDeny() {
	p.t.Helper()
	w := p.waitWindow(question)
	p.click(image.Pt(w.x+60, p.waitText(question, "with reason").Y))
}

// lastResult waits for the newest tool result of the main chat and returns it.
func lastResult(p *program, c *client.Client, tool string) protocol.Message {
	p.t.Helper()
	var found protocol.Message
	p.waitFor("a result of "+tool, func() bool {
		r, err := client.Call(context.Background(), c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession, Limit: 20})
		if err != nil {
			return false
		}
		for _, m := range r.Messages {
			if m.Role == protocol.RoleToolResult && strings.HasSuffix(string(m.ToolName), tool) {
				found = m
			}
		}
		return found.ID != ""
	})
	return found
}

// changeByHand lets the agent change a file, which the person overwrites. The page of files does
// not call that the agent's change, and a double click opens the file.
func (p *program) changeByHand(c *client.Client) {
	p.t.Helper()
	path := filepath.Join(p.workspace, "README.md")
	p.typeText("replace project with programme in README.md")
	p.keys("Return")
	p.waitWindow(question)
	p.clickAllowOnce()
	p.waitFor("the agent's change", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "programme")
	})
	p.waitNoWindow(question)
	if err := os.WriteFile(path, []byte("Overwritten by hand.\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.openPage("Files")
	at := p.waitTextIn(mainWindow, "README.md", content)
	if words := p.readOnce(content(p.waitWindow(mainWindow)), ""); len(words) > 0 {
		if _, marked := find(words, "by the agent"); marked {
			p.t.Error("a change by hand is shown as the agent's")
		}
	}
	p.run("xdotool", "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "sleep", "0.3", "click", "--repeat", "2", "--delay", "120", "1")
	p.waitTextIn(mainWindow, "Overwritten by hand", content)
	p.screenshot("by-hand")
	p.click(p.waitTextIn(mainWindow, "Today", sidebar).Add(image.Pt(0, 24))) // the chat
	p.waitText(mainWindow, "Message Fairlead")
}

func TestFirstHourOfUse(t *testing.T) {
	d := newDesktop(t)
	p := startProgram(d)

	// First run: one click to begin.
	d.clickText(mainWindow, "Start now")
	d.waitText(mainWindow, "What would you")
	d.screenshot("empty-chat")

	// A request, the approval, the answer by mouse, the result.
	d.typeText("run ls -la")
	d.keys("Return")
	d.waitWindow(question)
	d.waitText(question, "sandbox")
	d.screenshot("question")
	p.clickAllowOnce()
	d.waitNoWindow(question)
	d.waitText(mainWindow, "main.go")
	c := p.gateway()
	if m := lastResult(p, c, "__Bash"); m.Call == nil || m.Call.State != protocol.CallDone || m.Call.ExitCode == nil || *m.Call.ExitCode != 0 {
		t.Errorf("the command's result is %+v", m.Call)
	}
	d.screenshot("result")

	// Reading needs no approval.
	d.typeText("read README.md")
	d.keys("Return")
	lastResult(p, c, "__Read")
	if _, asked := d.windowNamed(question); asked {
		t.Error("reading in the workspace was asked about")
	}

	// A change is shown as a diff; Escape denies and nothing is written.
	d.typeText("replace project with programme in README.md")
	d.keys("Return")
	w := d.waitWindow(question)
	d.waitText(question, "programme")
	d.screenshot("diff")
	d.activate(w)
	d.keys("Escape")
	d.waitNoWindow(question)
	if m := lastResult(p, c, "__Edit"); m.Call == nil || m.Call.State != protocol.CallDenied {
		t.Errorf("the denied change is %+v", m.Call)
	}
	if text, _ := os.ReadFile(filepath.Join(p.workspace, "README.md")); !strings.Contains(string(text), "A project") {
		t.Errorf("a denied change was written: %s", text)
	}

	// The person's own command runs at once.
	d.activate(d.waitWindow(mainWindow))
	d.typeText("!echo my-own-command")
	d.keys("Return")
	d.waitFor("the result of the own command", func() bool { return strings.Contains(lastResult(p, c, "__Bash").Content.Text(), "my-own-command") })
	if _, asked := d.windowNamed(question); asked {
		t.Error("an own command was asked about")
	}

	p.changeByHand(c)

	// Close: the tray keeps it alive, and its menu opens the window again.
	closeToTray := func() {
		d.activate(d.waitWindow(mainWindow))
		d.keys("ctrl+w")
		d.waitNoWindow(mainWindow)
	}
	closeToTray()
	entries := d.trayMenu()
	var labels []string
	for _, e := range entries {
		labels = append(labels, e.label)
	}
	t.Logf("tray: %s", strings.Join(labels, " · "))
	d.chooseTray("Open")
	d.waitWindow(mainWindow)

	// A second start shows the window of the first.
	closeToTray()
	if err := p.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatal("closing the window ended the program")
	}
	d.screenshot("closed-to-tray")
	p.startAgain()
	d.waitWindow(mainWindow)

	// A model: the key goes into the keychain, the test works, the model is chosen from the
	// server's list.
	models := modelServer(t)
	if err := setConfig(c, "providers.compatible.baseUrl", models.URL+"/v1"); err != nil {
		t.Fatal(err)
	}
	d.activate(d.waitWindow(mainWindow))
	d.keys("ctrl+comma")
	d.click(d.waitTextIn(mainWindow, "Models", settingsList))
	d.click(d.waitTextIn(mainWindow, "Built-in operator", settingsPage)) // the menu of providers
	d.click(d.waitTextIn(mainWindow, "OpenAI-compatible", settingsPage))
	d.clickText(mainWindow, "Paste the key")
	d.typeText("sk-desktop-test-key")
	d.keys("Return")
	d.waitText(mainWindow, "key is set")
	if v, err := keychain.Open(p.home).Get("key-compatible"); err != nil || v.Reveal() != "sk-desktop-test-key" {
		t.Errorf("the key in the keychain: %v; want no error", err)
	}
	d.click(d.waitTextIn(mainWindow, "Test", settingsPage))
	d.waitTextIn(mainWindow, "Connected", settingsPage)
	d.click(d.waitTextIn(mainWindow, "paper-model", settingsPage))
	d.waitFor("the model that answers", func() bool {
		r, err := client.Call(context.Background(), c, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model.id"})
		return err == nil && string(r.Value) == `"paper-model"`
	})
	d.screenshot("settings")
	d.keys("Escape", "Escape") // from the page to the list, and back to the chat

	// A turn of the model with two calls: one is allowed, one denied.
	d.activate(d.waitWindow(mainWindow))
	d.typeText("please do two things")
	d.keys("Return")
	d.waitWindow(question)
	d.waitText(question, "1 of 2")
	d.screenshot("two-questions")
	p.clickAllowOnce()
	d.waitFor("the first answer", func() bool { return openQuestions(c) == 1 })
	p.clickDeny()
	d.waitNoWindow(question)
	d.waitText(mainWindow, "paper model has finished")
	d.screenshot("model-turn")
	states := callStates(c)
	if states[protocol.CallDone] < 1 || states[protocol.CallDenied] < 2 {
		t.Errorf("the calls ended as %v", states)
	}

	// Quit: everything ends.
	d.moveWindow(mainWindow, 60, 70, 1000, 700)
	left := d.waitWindow(mainWindow)
	began := time.Now()
	d.activate(left)
	d.keys("ctrl+q")
	p.waitExit()
	t.Logf("quit in %s", time.Since(began).Round(10*time.Millisecond))

	// The next start restores everything.
	p.launch()
	d.waitFor("the window where it was", func() bool {
		now, ok := d.windowNamed(mainWindow)
		return ok && now.x == left.x && now.y == left.y && now.w == left.w && now.h == left.h
	})
	d.waitText(mainWindow, "paper model has finished")
	d.screenshot("next-start")

	// A signal, such as of the end of the session, ends everything in order, too.
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.waitExit()
}

func setConfig(c *client.Client, path string, value any) error {
	raw, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	_, err = client.Call(context.Background(), c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}

// listenLocally makes the listener for other machines one of this machine alone, on any port. It does
// not start it.
func listenLocally(t *testing.T, c *client.Client) {
	t.Helper()
	for path, value := range map[string]any{"network.listen": "127.0.0.1:0", "network.discovery": false} {
		if err := setConfig(c, path, value); err != nil {
			t.Fatal(err)
		}
	}
}

// deviceList returns the paired devices and the state of the network; nothing while the gateway does
// not answer.
func deviceList(c *client.Client) protocol.DeviceListResult {
	r, _ := client.Call(context.Background(), c, protocol.DeviceList, protocol.Empty{})
	return r
}

// pairingRequests returns the questions of devices that want to be paired.
func pairingRequests(c *client.Client) []protocol.Question {
	r, _ := client.Call(context.Background(), c, protocol.QuestionList, protocol.Empty{})
	return slices.DeleteFunc(r.Questions, func(q protocol.Question) bool { return q.Pairing == nil })
}

func openQuestions(c *client.Client) int {
	r, err := client.Call(context.Background(), c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return -1
	}
	return len(r.Questions)
}

func callStates(c *client.Client) map[string]int {
	out := map[string]int{}
	r, err := client.Call(context.Background(), c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession})
	if err != nil {
		return out
	}
	for _, m := range r.Messages {
		if m.Call != nil {
			out[m.Call.State]++
		}
	}
	return out
}
