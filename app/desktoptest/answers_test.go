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

// desk is a program whose agent asks for approvals.
type desk struct{ *day }

func openDesk(t *testing.T) *desk {
	p := start(newDesktop(t))
	d := &desk{&day{p, p.gateway()}}
	d.until("this computer as a machine", func() bool {
		res, err := client.Call(context.Background(), d.c, protocol.NodesList, protocol.Empty{})
		return err == nil && len(res.Nodes) > 0 && res.Nodes[0].Online
	})
	return d
}

func (d *desk) ask(key protocol.SessionKey, text string) {
	d.t.Helper()
	if _, err := client.Call(context.Background(), d.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: text}); err != nil {
		d.t.Fatal(err)
	}
}

// questions returns the pending approvals.
func (d *desk) questions() []protocol.Question {
	r, err := client.Call(context.Background(), d.c, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		return nil
	}
	return r.Questions
}

func (d *desk) rules() int {
	r, err := client.Call(context.Background(), d.c, protocol.RulesList, protocol.Empty{})
	if err != nil {
		return -1
	}
	return len(r.Rules)
}

// calls returns the outcomes of a chat's calls.
func (d *desk) calls(key protocol.SessionKey) (states []string) {
	for _, m := range d.messages(key) {
		if m.Call != nil {
			states = append(states, m.Call.State)
		}
	}
	return states
}

func (d *desk) ends(key protocol.SessionKey, want ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf("calls that end as %v", want), func() bool { return slices.Equal(d.calls(key), want) })
}

// button brings the approval to the front, and returns the position of a button.
func (d *desk) button(phrase string) image.Point {
	d.t.Helper()
	d.activate(d.waitWindow(question))
	return d.waitTextIn(question, phrase, foot)
}

// page opens a page by its name in the sidebar.
func (d *desk) page(title string) {
	d.t.Helper()
	d.main()
	d.openPage(title)
}

// openPage opens a page of the main window, which is in front: from the foot of the sidebar, by the
// heading of its section, or with a link to the settings.
func (p *program) openPage(title string) {
	p.t.Helper()
	switch title {
	case "Files", "Transfers", "Schedule", "Activity":
		p.click(p.waitTextIn(mainWindow, title, pages))
	case "Needs you":
		p.keys("ctrl+i")
	case "Machines":
		p.click(p.waitTextIn(mainWindow, "MACHINES", left))
	default:
		p.start("fairlead://settings/" + strings.ToLower(strings.ReplaceAll(title, " ", "-")))
		p.waitTextIn(mainWindow, title, settingsPage)
	}
}

// darken makes the windows dark: the text on the blue buttons of light windows is not recognized.
func (p *program) darken(c *client.Client) {
	p.t.Helper()
	if err := setConfig(c, "ui.theme", "dark"); err != nil {
		p.t.Fatal(err)
	}
	p.until("a dark window", func() bool { return p.brightness(mainWindow) < 0.7 })
}

// addMachine opens the page that adds a machine, with the + beside the heading of the machines.
func (p *program) addMachine() {
	p.t.Helper()
	heading, w := p.waitTextIn(mainWindow, "MACHINES", left), p.waitWindow(mainWindow)
	p.click(image.Pt(w.x+216, heading.Y))
}

// Parts of windows: the names of pages in the sidebar, the area to its right, and the upper half of
// that.
func pages(w window) window { return left(bottom(w)) }
func right(w window) window { w.x, w.w = w.x+240, w.w-240; return w }
func top(w window) window   { w = right(w); w.h = min(w.h, 320); return w }

func TestEveryAnswerHasItsButton(t *testing.T) {
	d := openDesk(t)
	const first = protocol.MainSession

	// Deny, with the mouse.
	d.ask(first, "run ls -la")
	line := d.button("with reason")
	w := d.waitWindow(question)
	d.click(image.Pt(w.x+60, line.Y))
	d.waitNoWindow(question)
	d.ends(first, protocol.CallDenied)

	// A rule for the machine, with a preview of the earlier calls that it would have allowed.
	d.ask(first, "run ls -la")
	d.act("Allow once")
	d.ends(first, protocol.CallDenied, protocol.CallDone)
	d.waitNoWindow(question)
	d.ask(first, "run ls -la")
	d.click(d.acting("Allow once")[1]) // the arrow beside it
	scope := d.waitText(question, "on this machine")
	d.shot("scopes")
	d.click(scope)
	d.waitText(question, "it also allows")
	d.shot("preview")
	if n := d.rules(); n != 0 {
		t.Errorf("%d rules before one was wanted", n)
	}
	d.act("Create rule")
	d.waitNoWindow(question)
	d.ends(first, protocol.CallDenied, protocol.CallDone, protocol.CallDone)
	d.ask(first, "run ls -la")
	// the rule decides
	d.ends(first, protocol.CallDenied, protocol.CallDone, protocol.CallDone, protocol.CallDone)

	// The page of rules: delete, and undo.
	d.page("Approvals and rules")
	d.click(d.waitTextIn(mainWindow, "Allow", top))
	d.click(d.waitTextIn(mainWindow, "Delete", right))
	d.until("the end of the rule", func() bool { return d.rules() == 0 })
	d.click(d.waitTextIn(mainWindow, "Undo", toast))
	d.until("the rule again", func() bool { return d.rules() == 1 })
	d.waitTextIn(mainWindow, "1 rule", top)
	d.shot("rules-undone")

	// The audit log: revoke an approval's grant from its entry.
	d.page("Activity")
	d.click(d.waitTextIn(mainWindow, "Audit log", top))
	d.click(d.waitTextIn(mainWindow, "Created the rule", right))
	d.shot("audit-line")
	d.click(d.waitTextIn(mainWindow, "Revoke this", right))
	d.until("the end of the rule", func() bool { return d.rules() == 0 })
	d.waitTextIn(mainWindow, "Deleted the rule", right)
	d.shot("audit-undone")
}

// TestAFastClickOnDenyNeverAllows moves the mouse from one button to the other and clicks within
// one frame, as happens to a person while the program is busy.
func TestAFastClickOnDenyNeverAllows(t *testing.T) {
	d := openDesk(t)
	d.ask(protocol.MainSession, "run ls -la")
	allow := d.acting("Allow once")[0]
	deny := image.Pt(d.waitWindow(question).x+60, allow.Y)
	d.until("the end of the question", func() bool {
		d.run("xdotool", "mousemove", strconv.Itoa(allow.X), strconv.Itoa(allow.Y), "sleep", "0.5",
			"mousemove", strconv.Itoa(deny.X), strconv.Itoa(deny.Y), "click", "1", "sleep", "0.5")
		if _, open := d.windowNamed(question); open {
			d.click(deny)
		}
		return d.calls(protocol.MainSession) != nil
	})
	d.ends(protocol.MainSession, protocol.CallDenied)
}

func TestManyQuestionsAreAnsweredByTheirKind(t *testing.T) {
	d := openDesk(t)
	const first, two, three = protocol.MainSession, protocol.SessionKey("agent:main:two"), protocol.SessionKey("agent:main:three")

	// Allow one part of a change but not the other.
	file := filepath.Join(d.workspace, "boats.txt")
	text := "paper boat\n" + water() + "paper hat\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d.ask(first, "write to boats.txt:\n```\n"+strings.ReplaceAll(text, "paper", "cardboard")+"```")
	d.activate(d.waitWindow(question))
	d.click(d.waitText(question, "Change 2 of 2"))
	d.acting("Allow 1 of 2 changes")
	d.shot("one-part")
	d.act("Allow 1 of 2 changes")
	d.waitNoWindow(question)
	d.ends(first, protocol.CallDone)
	if got, _ := os.ReadFile(file); string(got) != strings.Replace(text, "paper boat", "cardboard boat", 1) {
		t.Errorf("written was %q", got)
	}

	// Two chats ask the same: both are answered after seeing one, from the page of approvals and by
	// keyboard.
	d.ask(first, "run ls -la")
	d.waitWindow(question)
	d.ask(two, "run ls -la")
	d.ask(three, "run make boats")
	d.until("three questions", func() bool { return len(d.questions()) == 3 })
	d.main()
	d.keys("ctrl+i")
	d.waitTextIn(mainWindow, "Review", top)
	d.shot("inbox")
	d.keys("Down", "l") // not now
	d.until("a question put off", func() bool {
		return slices.ContainsFunc(d.questions(), func(q protocol.Question) bool { return q.SessionKey == three && q.Later != 0 })
	})
	d.waitTextIn(mainWindow, "postponed until", top)
	d.keys("Up", "Return")
	d.until("the question at the front", func() bool { return strings.HasPrefix(d.front(), "Fairlead wants") })
	d.acting("Allow all 2 once")
	d.shot("both")
	d.act("Allow all 2 once")
	d.ends(first, protocol.CallDone, protocol.CallDone)
	d.ends(two, protocol.CallDone)
	d.waitNoWindow(question)
	d.main()
	d.keys("ctrl+i", "Delete")
	d.ends(three, protocol.CallDenied)
	d.waitTextIn(mainWindow, "Nothing needs", top)
	d.shot("inbox-empty")
}

// water is the text between two distant changes.
func water() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "wave %d\n", i)
	}
	return b.String()
}
