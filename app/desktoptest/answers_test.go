//go:build desktop

package desktoptest

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// approvalProgram is a program whose agent asks for approvals.
type approvalProgram struct{ *chatProgram }

func startApprovalProgram(t *testing.T) *approvalProgram {
	p := startProgram(newDesktop(t))
	d := &approvalProgram{&chatProgram{p, p.gateway()}}
	d.waitFor("this computer as a machine", func() bool {
		res, err := client.Call(context.Background(), d.c, protocol.NodesList, protocol.Empty{})
		return err == nil && len(res.Nodes) > 0 && res.Nodes[0].Online
	})
	return d
}

func (d *approvalProgram) send(key protocol.SessionKey, text string) {
	d.t.Helper()
	if _, err := client.Call(context.Background(), d.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: text}); err != nil {
		d.t.Fatal(err)
	}
}

// questions returns the pending approvals.
func (d *approvalProgram) questions() []protocol.Question {
	r, err := client.Call(context.Background(), d.c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return nil
	}
	return r.Questions
}

func (d *approvalProgram) ruleCount() int {
	r, err := client.Call(context.Background(), d.c, protocol.RulesList, protocol.Empty{})
	if err != nil {
		return -1
	}
	return len(r.Rules)
}

// callOutcomes returns the outcomes of a chat's calls.
func (d *approvalProgram) callOutcomes(key protocol.SessionKey) (states []string) {
	for _, m := range d.messages(key) {
		if m.Call != nil {
			states = append(states, m.Call.State)
		}
	}
	return states
}

func (d *approvalProgram) waitCalls(key protocol.SessionKey, want ...string) {
	d.t.Helper()
	d.waitFor(fmt.Sprintf("calls that end as %v", want), func() bool { return slices.Equal(d.callOutcomes(key), want) })
}

// waitQuestionText brings the approval to the front, and returns the position of a button.
func (d *approvalProgram) waitQuestionText(phrase string) image.Point {
	d.t.Helper()
	d.activate(d.waitWindow(question))
	return d.waitTextIn(question, phrase, buttonRow)
}

// openPageOfMain opens a page by its name in the sidebar.
func (d *approvalProgram) openPageOfMain(title string) {
	d.t.Helper()
	d.activateMain()
	d.openPage(title)
}

// openPage opens a page of the main window, which is in front: from the foot of the sidebar, by the
// heading of its section, or with a link to the settings.
func (p *program) openPage(title string) {
	p.t.Helper()
	switch title {
	case "Files", "Transfers", "Schedule", "Activity":
		p.click(p.waitTextIn(mainWindow, title, sidebarPages))
	case "Needs you":
		p.keys("ctrl+i")
	case "Machines":
		p.click(p.waitTextIn(mainWindow, "MACHINES", sidebar))
	default:
		p.startAgain("fairlead://settings/" + strings.ToLower(strings.ReplaceAll(title, " ", "-")))
		p.waitTextIn(mainWindow, title, settingsPage)
	}
}

// useDarkTheme makes the windows dark: the text on the blue buttons of light windows is not
// recognized.
func (p *program) useDarkTheme(c *client.Client) {
	p.t.Helper()
	if err := setConfig(c, "ui.theme", "dark"); err != nil {
		p.t.Fatal(err)
	}
	p.waitFor("a dark window", func() bool { return p.brightness(mainWindow) < 0.7 })
}

// openAddMachine opens the page that adds a machine, with the + beside the heading of the machines.
func (p *program) openAddMachine() {
	p.t.Helper()
	heading, w := p.waitTextIn(mainWindow, "MACHINES", sidebar), p.waitWindow(mainWindow)
	p.click(image.Pt(w.x+216, heading.Y))
}

// Parts of windows: the names of pages in the sidebar, the area to its right, and the upper half of
// that.
func sidebarPages(w window) window { return sidebar(windowBottom(w)) }
func content(w window) window      { w.x, w.w = w.x+240, w.w-240; return w }
func contentTop(w window) window   { w = content(w); w.h = min(w.h, 320); return w }

func TestEveryAnswerHasAButton(t *testing.T) {
	d := startApprovalProgram(t)
	const first = protocol.MainSession

	// Deny, with the mouse.
	d.send(first, "run ls -la")
	line := d.waitQuestionText("with reason")
	w := d.waitWindow(question)
	d.click(image.Pt(w.x+60, line.Y))
	d.waitNoWindow(question)
	d.waitCalls(first, protocol.CallDenied)

	// A rule for the machine, with a preview of the earlier calls that it would have allowed.
	d.send(first, "run ls -la")
	d.clickAction("Allow once")
	d.waitCalls(first, protocol.CallDenied, protocol.CallDone)
	d.waitNoWindow(question)
	d.send(first, "run ls -la")
	d.click(d.waitAction("Allow once")[1]) // the arrow beside it
	scope := d.waitText(question, "on this machine")
	d.screenshot("scopes")
	d.click(scope)
	d.waitText(question, "it also allows")
	d.screenshot("preview")
	if n := d.ruleCount(); n != 0 {
		t.Errorf("%d rules before one was wanted", n)
	}
	d.clickAction("Create rule")
	d.waitNoWindow(question)
	d.waitCalls(first, protocol.CallDenied, protocol.CallDone, protocol.CallDone)
	d.send(first, "run ls -la")
	// the rule decides
	d.waitCalls(first, protocol.CallDenied, protocol.CallDone, protocol.CallDone, protocol.CallDone)

	// The page of rules: delete, and undo.
	d.openPageOfMain("Approvals and rules")
	d.click(d.waitTextIn(mainWindow, "Allow", contentTop))
	d.click(d.waitTextIn(mainWindow, "Delete", content))
	d.waitFor("the end of the rule", func() bool { return d.ruleCount() == 0 })
	d.click(d.waitTextIn(mainWindow, "Undo", toast))
	d.waitFor("the rule again", func() bool { return d.ruleCount() == 1 })
	d.waitTextIn(mainWindow, "1 rule", contentTop)
	d.screenshot("rules-undone")

	// The audit log: revoke an approval's grant from its entry.
	d.openPageOfMain("Activity")
	d.click(d.waitTextIn(mainWindow, "Audit log", contentTop))
	d.click(d.waitTextIn(mainWindow, "Created the rule", content))
	d.screenshot("audit-line")
	d.click(d.waitTextIn(mainWindow, "Revoke this", content))
	d.waitFor("the end of the rule", func() bool { return d.ruleCount() == 0 })
	d.waitTextIn(mainWindow, "Deleted the rule", content)
	d.screenshot("audit-undone")
}

// TestAFastClickOnDenyNeverAllows moves the mouse from one button to the other and clicks within
// one frame, as happens to a person while the program is busy.
func TestAFastClickOnDenyNeverAllows(t *testing.T) {
	d := startApprovalProgram(t)
	d.send(protocol.MainSession, "run ls -la")
	allow := d.waitAction("Allow once")[0]
	deny := image.Pt(d.waitWindow(question).x+60, allow.Y)
	d.waitFor("the end of the question", func() bool {
		d.run("xdotool", "mousemove", strconv.Itoa(allow.X), strconv.Itoa(allow.Y), "sleep", "0.5",
			"mousemove", strconv.Itoa(deny.X), strconv.Itoa(deny.Y), "click", "1", "sleep", "0.5")
		if _, open := d.windowNamed(question); open {
			d.click(deny)
		}
		return d.callOutcomes(protocol.MainSession) != nil
	})
	d.waitCalls(protocol.MainSession, protocol.CallDenied)
}

func TestEqualQuestionsAreAnsweredTogether(t *testing.T) {
	d := startApprovalProgram(t)
	const first, two, three = protocol.MainSession, protocol.SessionKey("agent:main:two"), protocol.SessionKey("agent:main:three")

	// Allow one part of a change but not the other.
	file := filepath.Join(d.workspace, "boats.txt")
	text := "paper boat\n" + separatorLines() + "paper hat\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d.send(first, "write to boats.txt:\n```\n"+strings.ReplaceAll(text, "paper", "cardboard")+"```")
	d.activate(d.waitWindow(question))
	d.click(d.waitText(question, "Change 2 of 2"))
	d.waitAction("Allow 1 of 2 changes")
	d.screenshot("one-part")
	d.clickAction("Allow 1 of 2 changes")
	d.waitNoWindow(question)
	d.waitCalls(first, protocol.CallDone)
	if got, _ := os.ReadFile(file); string(got) != strings.Replace(text, "paper boat", "cardboard boat", 1) {
		t.Errorf("written was %q", got)
	}

	// Two chats ask the same: both are answered after seeing one, from the page of approvals and by
	// keyboard.
	d.send(first, "run ls -la")
	d.waitWindow(question)
	d.send(two, "run ls -la")
	d.send(three, "run make boats")
	d.waitFor("three questions", func() bool { return len(d.questions()) == 3 })
	d.activateMain()
	d.keys("ctrl+i")
	d.waitTextIn(mainWindow, "Review", contentTop)
	d.screenshot("inbox")
	d.keys("Down", "l") // not now
	d.waitFor("a question put off", func() bool {
		return slices.ContainsFunc(d.questions(), func(q protocol.Question) bool { return q.SessionKey == three && q.Later != 0 })
	})
	d.waitTextIn(mainWindow, "postponed until", contentTop)
	d.keys("Up", "Return")
	d.waitFor("the question at the front", func() bool { return strings.HasPrefix(d.focusedTitle(), "Fairlead wants") })
	d.waitAction("Allow all 2 once")
	d.screenshot("both")
	d.clickAction("Allow all 2 once")
	d.waitCalls(first, protocol.CallDone, protocol.CallDone)
	d.waitCalls(two, protocol.CallDone)
	d.waitNoWindow(question)
	d.activateMain()
	d.keys("ctrl+i", "Delete")
	d.waitCalls(three, protocol.CallDenied)
	d.waitTextIn(mainWindow, "Nothing needs", contentTop)
	d.screenshot("inbox-empty")
}

// separatorLines is the text between two distant changes.
func separatorLines() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "wave %d\n", i)
	}
	return b.String()
}
