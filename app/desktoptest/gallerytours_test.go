//go:build desktop && gallery

package desktoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestGalleryOfEmptyPages(t *testing.T) {
	g := newGallery(t, "empty")
	g.takeMainWindow("first-run")
	g.prepareMainWindow()
	g.clickText(mainWindow, "Start now")
	g.takeEveryPage()
	g.takeForms()
}

func TestGalleryOfFilledPages(t *testing.T) {
	startOllama(t)
	g := newGallery(t, "full")
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.addWaitingTransfer()
	g.takeEveryPage()
	g.takeDetails()
}

// TestGalleryOfTransfers takes pictures of transfers that run and wait for their turn. The machine
// that receives them stands still meanwhile.
func TestGalleryOfTransfers(t *testing.T) {
	g := newGallery(t, "running")
	g.clickText(mainWindow, "Start now")
	g.fillFolder()
	g.startMachineInWorkspace(g.c, "server")
	source := string(g.thisComputer()) + ":" + filepath.Join(g.workspace, "photos.tar")
	send := func() protocol.Transfer {
		return call(g, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{source}, Destination: "server:", Into: true})
	}
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", "--", "--id server").Output()
	pid, failed := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || failed != nil {
		t.Fatalf("the process of the machine: got %q, %v, want its number", out, err)
	}
	first := send()
	g.waitFor("a transfer on its way", func() bool {
		t := call(g, protocol.TransferGet, protocol.TransferParams{ID: first.ID})
		return t.EndedAt != 0 || t.BytesDone > 0
	})
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	second := send()
	call(g, protocol.TransferPause, protocol.TransferParams{ID: second.ID})
	const running = 16 // at once, at most
	for range running - 1 {
		send()
	}
	call(g, protocol.TransferResume, protocol.TransferParams{ID: second.ID})
	g.waitFor("a queued transfer", func() bool {
		return call(g, protocol.TransferGet, protocol.TransferParams{ID: second.ID}).State == protocol.TransferQueued
	})
	g.takePages("", "Transfers")
}

// TestGalleryOfTheTray takes a picture of the tray's menu, which the panel draws.
func TestGalleryOfTheTray(t *testing.T) {
	g := newGallery(t, "tray")
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.addWaitingTransfer()
	g.waitTray("Quit")
	below := window{x: 1150, y: 60, w: 100, h: 60} // the icon, beside the main window
	before := g.capture(below)
	g.run("xdotool", "mousemove", "1155", "12", "sleep", "0.25", "click", "1")
	g.waitFor("an open menu", func() bool { return !bytes.Equal(g.capture(below).Pix, before.Pix) })
	g.saveStill(window{x: 780, w: 500, h: 500}, "menu-usual-dark")
}

func TestGalleryOfLargeText(t *testing.T) {
	startOllama(t)
	g := newGallery(t, "large")
	g.themes = []string{"dark"} // the colours do not depend on the size
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.addWaitingTransfer()
	if err := setConfig(g.c, "ui.textSize", largestText); err != nil {
		t.Fatal(err)
	}
	g.takeEveryPage()
	g.takeForms()
	g.takeQuestion("run make -j4 && sudo systemctl restart parser")
}

// takeDetails takes pictures of what opens from the pages.
func (g *gallery) takeDetails() {
	g.t.Helper()
	g.openByPalette("server")
	g.takeMainWindow("machine")
	g.click(g.waitTextIn(mainWindow, "Terminal", content))
	g.waitTextIn(mainWindow, "You type", content)
	g.takeMainWindow("terminal")
	g.click(g.waitTextIn(mainWindow, "Machine", content))
	g.openByPalette("nas")
	g.takeMainWindow("machine-offline")
	if err := setConfig(g.c, "network.enabled", true); err != nil {
		g.t.Fatal(err)
	}
	g.openByPalette("Add a machine")
	g.prepareMainWindow()
	g.clickText(mainWindow, "Invite a machine")
	g.waitTextIn(mainWindow, "fairlead://pair", content)
	g.takeMainWindow("invitation")
	for page, line := range map[string]string{"Schedule": "Look at the backups", "Transfers": "photos.tar", "Audit log": "Created the rule", "Approvals and rules": "git status", "Tools": "Paper notes", "Published apps": "Wiki"} {
		g.openByPalette(page)
		g.prepareMainWindow()
		g.click(g.waitTextIn(mainWindow, line, content))
		g.takeMainWindow("one-of-" + strings.ToLower(strings.ReplaceAll(page, " ", "-")))
	}
	g.openByPalette("README.md")
	g.takeMainWindow("file")
	g.openByPalette("General")
	g.prepareMainWindow()
	g.typeText("notif")
	g.takeMainWindow("settings-found")
	g.openByPalette("Search all messages")
	g.typeText("package")
	g.takeMainWindow("search-found")
	g.openByPalette("Main chat")
	g.prepareMainWindow()
	g.chooseFromMenu("Earlier")
	g.takeMainWindow("archives")
	g.prepareMainWindow()
	g.rightClick(g.waitTextIn(mainWindow, "Go files", sidebar))
	g.clickText(mainWindow, "new window")
	const own = "Go files – Fairlead$"
	g.takePictures(own, "torn-off", windowSize{"wide", 720, 640}, windowSizes[1])
	g.activate(g.waitWindow(own))
	g.keys("ctrl+w")
	g.waitNoWindow(own)
}

// takeQuestion lets the agent ask, and takes pictures of the dialog, the chat and the page Needs
// you.
func (g *gallery) takeQuestion(text string) {
	g.t.Helper()
	name, _, _ := strings.Cut(text, " ")
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text})
	g.takeDialog(question, name, func() {
		g.openByPalette("Main chat")
		g.takeMainWindow("chat-" + name)
	})
}

// takeDialog takes pictures of a question's dialog and of the page Needs you, and closes the
// dialog.
func (g *gallery) takeDialog(pattern, name string, more ...func()) {
	g.t.Helper()
	w := g.waitWindow(pattern)
	g.takePictures(pattern, "question-"+name, windowSize{"usual", w.w, w.h}, windowSizes[1])
	for _, f := range more {
		f()
	}
	g.openByPalette("Needs you")
	g.takeMainWindow("needs-you-" + name)
	g.activate(g.waitWindow(pattern))
	g.keys("Escape")
	g.waitNoWindow(pattern)
}

func TestGalleryOfQuestions(t *testing.T) {
	g := newGallery(t, "questions")
	g.clickText(mainWindow, "Start now")
	g.startMachineInWorkspace(g.c, "server")
	g.thisComputer()
	name := "Main chat"
	call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &name})
	g.takeQuestion("run make -j4 && sudo systemctl restart parser")
	g.takeQuestion("replace project with programme in README.md")
	g.takePublishing()

	(&browser{g.program, "http://" + g.addr}).signIn("Paper editor", "network.read fs.read fs.write shell.exec")
	g.takeDialog("^Connect .*Paper editor", "app")
	g.takePairing()
	g.takeDialog("^Pair .*tower", "pair")
	g.takeSender()
	g.takeInput()
	g.takeDialog("asks you a question$", "input")
	g.openByPalette("Needs you")
	g.takeMainWindow("needs-you-more")
}

// TestGalleryOfMoreQuestions takes pictures of the questions to which only a model or a machine leads:
// to keep a change that nobody allowed, to type into a command, to go on, to allow more on a machine.
func TestGalleryOfMoreQuestions(t *testing.T) {
	g := newGallery(t, "questions")
	g.clickText(mainWindow, "Start now")
	const hook = `{"command":"perl -e 'mkdir q(.hus).q(ky); open F, q(>.hus).q(ky/pre-commit); print F q(echo hook)'"}`
	g.startPlan(protocol.MainSession, func(int) (tool, args string) { return "Bash", hook })
	g.takeDialog(keepQuestion, "keep")

	typing := protocol.SessionKey("agent:main:type")
	g.startPlan(typing, func(done int) (tool, args string) {
		if done == 0 {
			return "Bash", `{"command":"python3 -q -i","background":true}`
		}
		id := regexp.MustCompile(`"sessionId": ?"([^"]+)"`).FindStringSubmatch(g.lastResult(typing))
		if id == nil {
			return "", ""
		}
		return "Process", `{"action":"submit","sessionId":"` + id[1] + `","data":"import shutil; shutil.rmtree('build')"}`
	})
	g.takeDialog(question, "type")

	if err := setConfig(g.c, "agent.maxSteps", 1); err != nil {
		t.Fatal(err)
	}
	g.startPlan("agent:main:steps", func(int) (tool, args string) { return "Glob", `{"pattern":"**/*"}` })
	g.takeDialog(question, "continue")

	g.takeWidening()
	g.takeDialog("^Allow more", "widen")
}

// startPlan starts a run in a trusted chat whose model calls what plan returns after a number of calls,
// up to two.
func (g *gallery) startPlan(key protocol.SessionKey, plan func(done int) (tool, args string)) {
	g.t.Helper()
	model := fakeModel(g.t, func(names []string, done int) []modelCall {
		tool, args := plan(done)
		for _, name := range names {
			if strings.HasSuffix(name, "__"+tool) && done < 2 {
				return []modelCall{{name, args}}
			}
		}
		return nil
	}, "The paper model has finished.")
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model": map[string]string{"provider": "compatible", "id": "paper-model"},
	} {
		if err := setConfig(g.c, path, value); err != nil {
			g.t.Fatal(err)
		}
	}
	mode := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Approvals: &mode}})
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: "go on with the paper"})
}

// lastResult returns the last message of a chat.
func (g *gallery) lastResult(key protocol.SessionKey) string {
	m := g.messages(key)
	if len(m) == 0 {
		return ""
	}
	return m[len(m)-1].Content.Text()
}

// takePublishing takes pictures of the questions about a published app: whether to publish it, whether
// this computer may connect to it, and whether a visitor may visit it.
func (g *gallery) takePublishing() {
	g.t.Helper()
	here := g.thisComputer()
	publish := func(args string) {
		go client.Call(context.Background(), g.c, protocol.CatalogCall, protocol.CatalogCallParams{Tool: "service_publish", Args: json.RawMessage(`{"node_id":"` + string(here) + `",` + args + `}`)})
	}
	publish(`"title":"Wiki","proxy_target_url":"3000","auth_required":false`)
	g.takeDialog(question, "publish")

	publish(`"title":"Printer","proxy_target_url":"https://10.0.0.7:8443"`) // its certificate is looked at before the question
	const reach = "^Allow connections"
	w := g.waitWindow(reach)
	g.takePictures(reach, "question-reach", windowSize{"usual", w.w, w.h}, windowSizes[1])
	g.activate(g.waitWindow(reach))
	g.keys("ctrl+w") // denies
	g.waitNoWindow(reach)
	g.activate(g.waitWindow(question))
	g.keys("Escape")
	g.waitNoWindow(question)

	g.publish(here, `"title":"Wiki","proxy_target_url":"3000"`)
	wiki := call(g, protocol.ServicesList, protocol.Empty{}).Services[0]
	g.read(g.browser().PostForm(wiki.URL+"/.fairlead/ask", url.Values{"email": {"ann@company.com"}, "message": {"Ann from the club"}}))
	g.openByPalette("Needs you")
	g.takeMainWindow("needs-you-visit")
	for _, q := range call(g, protocol.QuestionList, protocol.Empty{}).Questions {
		call(g, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionDeny})
	}
}

// takeWidening pairs a machine, which then offers more.
func (g *gallery) takeWidening() {
	g.t.Helper()
	command := g.takePairing()
	g.allow(protocol.AskPair)
	g.waitNoWindow("^Pair ")
	node := command("node", "--id", "tower", "--sandbox", "full", "--network", "allowed")
	if err := node.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { node.Process.Kill(); node.Wait() })
}

// takePairing lets another machine ask for a pairing, and returns its commands.
func (g *gallery) takePairing() (command func(args ...string) *exec.Cmd) {
	g.t.Helper()
	listenLocally(g.t, g.c)
	if err := setConfig(g.c, "network.enabled", true); err != nil {
		g.t.Fatal(err)
	}
	g.waitFor("its listener", func() bool { return call(g, protocol.DeviceList, protocol.Empty{}).Network.Listening })
	invite := call(g, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode})
	home, workspace := g.t.TempDir(), g.t.TempDir()
	command = func(args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(filepath.Dir(programPath(g.t)), "fairlead"), append(args, "--workspace", workspace)...)
		c.Env = append(os.Environ(), "FAIRLEAD_HOME="+home, "FAIRLEAD_SECRETS=file")
		return c
	}
	pair := command("pair", invite.Link, "--id", "tower")
	if err := pair.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { pair.Process.Kill(); pair.Wait() })
	return command
}

// connectChannel connects a program that carries messages of Telegram.
func (g *gallery) connectChannel() *client.Client {
	g.t.Helper()
	token, err := keychain.Open(g.home).Get(gateway.TokenName)
	if err != nil {
		g.t.Fatal(err)
	}
	up := make(chan struct{}, 4)
	c := client.New(client.Options{
		URL: "ws://" + g.addr + "/ws", Token: token.Reveal(), Logger: slog.New(slog.DiscardHandler),
		Connect: func() protocol.ConnectParams {
			return protocol.ConnectParams{
				MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
				Client: protocol.ClientInfo{ID: "telegram-1", Mode: protocol.ModeChannel, Channel: "telegram", AccountID: "me"},
			}
		},
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	g.t.Cleanup(func() { cancel(); <-done })
	<-up
	return c
}

// takeSender lets an unknown person write to the agent on a channel.
func (g *gallery) takeSender() {
	g.t.Helper()
	if _, err := client.Call(context.Background(), g.connectChannel(), protocol.ChannelInbound, protocol.ChannelInboundParams{
		Channel: "telegram", AccountID: "me", Peer: protocol.Peer{Kind: protocol.PeerDM, ID: "5550100", Name: "Anna"}, Sender: &protocol.Sender{ID: "5550100", Name: "Anna"},
		Message: protocol.ChannelMessage{ID: "1", Text: "Hello, can you send me the photos of last summer?"},
	}); err != nil {
		g.t.Fatal(err)
	}
}

// takeInput lets an MCP server ask the person.
func (g *gallery) takeInput() {
	g.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	model := fakeModel(g.t, callOnce(modelCall{"shop__order", `{"text":"paper"}`}), "The paper model ordered it.")
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model":            map[string]string{"provider": "compatible", "id": "paper-model"},
		"mcp.servers.shop": map[string]any{"command": exe, "env": map[string]string{serverVariable: "asks"}},
	} {
		if err := setConfig(g.c, path, value); err != nil {
			g.t.Fatal(err)
		}
	}
	g.waitFor("the server", func() bool {
		r := call(g, protocol.ServersList, protocol.Empty{})
		return len(r.Servers) == 1 && r.Servers[0].State == protocol.ServerReady
	})
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "agent:main:paper", Message: "order paper"})
	g.allow(protocol.AskCall)
}

// TestGalleryOfAnotherComputer takes pictures of a window that controls another computer.
func TestGalleryOfAnotherComputer(t *testing.T) {
	remote := startRemote(t)
	var token string
	p := &program{desktop: newDesktop(t), home: filepath.Join(t.TempDir(), "home"), workspace: t.TempDir()}
	p.waitFor("the other gateway", func() bool {
		out, err := remote.command("token").Output()
		token = strings.TrimSpace(string(out))
		return err == nil && remote.command("status").Run() == nil
	})
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("Some notes.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runMachine(t, "server", folder, remote.addr, token)
	cmd := exec.Command(programPath(t), "--join", "ws://"+remote.addr+"/ws")
	cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+p.home, "FAIRLEAD_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	const far = " – Fairlead$"
	g := &gallery{chatProgram: &chatProgram{p, dialGateway(p.desktop, remote.addr, token)}, set: "remote", themes: []string{"dark", "light"}}
	w := g.waitWindow(far)
	g.run("xdotool", "windowmove", "--sync", w.id, "20", "60")
	g.setTheme(far, "dark")
	g.takePictures(far, "chat", windowSizes...)
	for _, title := range []string{"Files", "Machines", "Gateways", "General"} {
		g.activate(g.waitWindow(far))
		g.keys("ctrl+k")
		g.typeText(title)
		g.keys("Return")
		g.takePictures(far, strings.ToLower(title), windowSizes...)
	}
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "run make -j4"})
	asked := g.waitWindow(question)
	g.takePictures(question, "question-run", windowSize{"usual", asked.w, asked.h}, windowSizes[1])
	g.activate(g.waitWindow(far))
	remote.end()
	g.waitText(far, "last known state")
	g.savePicture(far, "offline-wide-"+g.theme)
}
