//go:build desktop && gallery

package desktoptest

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestGalleryOfWhatIsEmpty(t *testing.T) {
	g := newGallery(t, "empty")
	g.main("first-run")
	g.ready()
	g.clickText(mainWindow, "Start now")
	g.everyPage()
	g.forms()
}

func TestGalleryOfWhatIsInUse(t *testing.T) {
	ollama(t)
	g := newGallery(t, "full")
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.waitingTransfer()
	g.everyPage()
	g.details()
}

func TestGalleryOfLargeText(t *testing.T) {
	ollama(t)
	g := newGallery(t, "large")
	g.themes = []string{"dark"} // the colours do not depend on the size
	g.clickText(mainWindow, "Start now")
	g.fill()
	g.waitingTransfer()
	if err := setConfig(g.c, "ui.textSize", largestText); err != nil {
		t.Fatal(err)
	}
	g.everyPage()
	g.forms()
	g.question("run make -j4 && sudo systemctl restart parser")
}

// details takes pictures of what opens from the pages.
func (g *gallery) details() {
	g.t.Helper()
	g.open("server")
	g.main("machine")
	g.open("nas")
	g.main("machine-offline")
	if err := setConfig(g.c, "network.enabled", true); err != nil {
		g.t.Fatal(err)
	}
	g.open("Pair a machine")
	g.ready()
	g.clickText(mainWindow, "Invite a machine")
	g.waitTextIn(mainWindow, "curl", right)
	g.main("invitation")
	for page, line := range map[string]string{"Schedule": "Look at the backups", "Transfers": "photos.tar", "Audit log": "Created the rule", "Approvals and rules": "git status", "Tools": "Paper notes"} {
		g.open(page)
		g.ready()
		g.click(g.waitTextIn(mainWindow, line, right))
		g.main("one-of-" + strings.ToLower(strings.ReplaceAll(page, " ", "-")))
	}
	g.open("README.md")
	g.main("file")
	g.open("General")
	g.ready()
	g.typeText("notif")
	g.main("settings-found")
	g.open("Search all messages")
	g.typeText("package")
	g.main("search-found")
	g.open("Main chat")
	g.ready()
	g.menu("Earlier")
	g.main("archives")
	g.ready()
	g.rightClick(g.waitTextIn(mainWindow, "Go files", left))
	g.clickText(mainWindow, "new window")
	const own = "Go files – Fairlead$"
	g.take(own, "torn-off", shape{"wide", 720, 640}, shapes[1])
	g.activate(g.waitWindow(own))
	g.keys("ctrl+w")
	g.waitNoWindow(own)
}

// question lets the agent ask, and takes pictures of the dialog, the chat and the page Needs you.
func (g *gallery) question(text string) {
	g.t.Helper()
	name, _, _ := strings.Cut(text, " ")
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text})
	g.dialog(question, name, func() {
		g.open("Main chat")
		g.main("chat-" + name)
	})
}

// dialog takes pictures of a question's dialog and of the page Needs you, and closes the dialog.
func (g *gallery) dialog(pattern, name string, more ...func()) {
	g.t.Helper()
	w := g.waitWindow(pattern)
	g.take(pattern, "question-"+name, shape{"usual", w.w, w.h}, shapes[1])
	for _, f := range more {
		f()
	}
	g.open("Needs you")
	g.main("needs-you-" + name)
	g.activate(g.waitWindow(pattern))
	g.keys("Escape")
	g.waitNoWindow(pattern)
}

func TestGalleryOfQuestions(t *testing.T) {
	g := newGallery(t, "questions")
	g.clickText(mainWindow, "Start now")
	g.machine(g.c, "server")
	g.here()
	name := "Main chat"
	call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &name})
	g.question("run make -j4 && sudo systemctl restart parser")
	g.question("replace project with programme in README.md")

	(&browser{g.program, "http://" + g.addr}).signIn("Paper editor", "network.read fs.read fs.write shell.exec")
	g.dialog("^Connect .*Paper editor", "app")
	g.pairing()
	g.dialog("^Pair .*tower", "pair")
	g.sender()
	g.input()
	g.dialog("asks you a question$", "input")
	g.open("Needs you")
	g.main("needs-you-more")
}

// pairing lets another machine ask for a pairing.
func (g *gallery) pairing() {
	g.t.Helper()
	for path, value := range map[string]any{"network.listen": "127.0.0.1:0", "network.discovery": false} {
		if err := setConfig(g.c, path, value); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := setConfig(g.c, "network.enabled", true); err != nil {
		g.t.Fatal(err)
	}
	g.until("its listener", func() bool { return call(g, protocol.DeviceList, protocol.Empty{}).Network.Listening })
	invite := call(g, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode})
	pair := exec.Command(filepath.Join(filepath.Dir(binary(g.t)), "fairlead"), "pair", invite.Link, "--id", "tower", "--workspace", g.t.TempDir())
	pair.Env = append(os.Environ(), "FAIRLEAD_HOME="+g.t.TempDir(), "FAIRLEAD_SECRETS=file")
	if err := pair.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { pair.Process.Kill(); pair.Wait() })
}

// sender lets an unknown person write to the agent on a channel.
func (g *gallery) sender() {
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
	if _, err := client.Call(ctx, c, protocol.ChannelInbound, protocol.ChannelInboundParams{
		Channel: "telegram", AccountID: "me", Peer: protocol.Peer{Kind: protocol.PeerDM, ID: "5550100", Name: "Anna"}, Sender: &protocol.Sender{ID: "5550100", Name: "Anna"},
		Message: protocol.ChannelMessage{ID: "1", Text: "Hello, can you send me the photos of last summer?"},
	}); err != nil {
		g.t.Fatal(err)
	}
}

// input lets an MCP server ask the person.
func (g *gallery) input() {
	g.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	model := fakeModel(g.t, once(modelCall{"shop__order", `{"text":"paper"}`}), "The paper model ordered it.")
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model":            map[string]string{"provider": "compatible", "id": "paper-model"},
		"mcp.servers.shop": map[string]any{"command": exe, "env": map[string]string{asServer: "asks"}},
	} {
		if err := setConfig(g.c, path, value); err != nil {
			g.t.Fatal(err)
		}
	}
	g.until("the server", func() bool {
		r := call(g, protocol.ServersList, protocol.Empty{})
		return len(r.Servers) == 1 && r.Servers[0].State == protocol.ServerReady
	})
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "agent:main:paper", Message: "order paper"})
	var asked protocol.Question
	g.until("the call", func() bool {
		list := call(g, protocol.QuestionList, protocol.Empty{}).Questions
		i := slices.IndexFunc(list, func(q protocol.Question) bool { return q.Kind == protocol.AskCall })
		if i >= 0 {
			asked = list[i]
		}
		return i >= 0
	})
	call(g, protocol.QuestionAnswer, allowAnswer(asked))
}

// TestGalleryOfAnotherComputer takes pictures of a window that controls another computer.
func TestGalleryOfAnotherComputer(t *testing.T) {
	remote := startRemote(t)
	var token string
	p := &program{desktop: newDesktop(t), home: filepath.Join(t.TempDir(), "home"), workspace: t.TempDir()}
	p.until("the other gateway", func() bool {
		out, err := remote.command("token").Output()
		token = strings.TrimSpace(string(out))
		return err == nil && remote.command("status").Run() == nil
	})
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("Some notes.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runMachine(t, "server", folder, remote.addr, token)
	cmd := exec.Command(binary(t), "--join", "ws://"+remote.addr+"/ws")
	cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+p.home, "FAIRLEAD_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	const far = " – Fairlead$"
	g := &gallery{day: &day{p, dial(p.desktop, remote.addr, token)}, set: "remote", themes: []string{"dark", "light"}}
	w := g.waitWindow(far)
	g.run("xdotool", "windowmove", "--sync", w.id, "20", "60")
	g.colours(far, "dark")
	g.take(far, "chat", shapes...)
	for _, title := range []string{"Files", "Machines", "Gateways", "General"} {
		g.activate(g.waitWindow(far))
		g.keys("ctrl+k")
		g.typeText(title)
		g.keys("Return")
		g.take(far, strings.ToLower(title), shapes...)
	}
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "run make -j4"})
	asked := g.waitWindow(question)
	g.take(question, "question-run", shape{"usual", asked.w, asked.h}, shapes[1])
	g.activate(g.waitWindow(far))
	remote.end()
	g.waitText(far, "last known state")
	g.picture(far, "offline-wide-"+g.theme)
}
