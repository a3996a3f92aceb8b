package servicestest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// screenText is an expression for the lines that the terminal of a page shows.
const screenText = `[...document.querySelectorAll('.xterm-rows > div')].map((row) => row.textContent.replaceAll('\u00a0', ' ').trimEnd()).join('\n')`

// publishTerminal publishes a terminal of the machine.
func (s *stack) publishTerminal(command string, emails ...string) service {
	s.t.Helper()
	return s.call("service_publish", map[string]any{"node_id": "tower", "title": "Tower", "terminal_command": command, "workdir": filepath.Join(s.dir, "machine"), "authorized_emails": emails})
}

// openTerminal lets a visitor into a terminal; email is empty for the owner. Problems that the
// browser reports, such as violations of the page's policy, fail the test.
func (s *stack) openTerminal(t testing.TB, p service, email string) *visitor {
	t.Helper()
	v := newVisitor(t, sharedBrowser(t))
	if err := chromedp.Listen(v.ctx, func(event any) {
		if e, ok := event.(*log.EventEntryAdded); ok && strings.Contains(e.Entry.Text, "Content Security Policy") {
			t.Errorf("the browser reports: %.300s", e.Entry.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	args := []string{"services", "link", p.ID}
	if email != "" {
		args = append(args, email)
	}
	v.enter(s.run(args...))
	v.waits("document.querySelector('.xterm-rows')")
	return v
}

// types types a text into the page.
func (v *visitor) types(text string) {
	v.t.Helper()
	if _, err := chromedp.Call(v.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		v.t.Fatal(err)
	}
}

// enters types a line.
func (v *visitor) enters(line string) {
	v.t.Helper()
	v.types(line)
	v.do(chromedp.KeyEvent(kb.Enter))
}

// screen waits until the terminal shows a text.
func (v *visitor) screen(text string) {
	v.t.Helper()
	quoted, _ := json.Marshal(text)
	v.waits("(" + screenText + ").includes(" + string(quoted) + ")")
}

// status waits until the line above the terminal says something.
func (v *visitor) status(text string) {
	v.t.Helper()
	quoted, _ := json.Marshal(text)
	v.waits("document.getElementById('status').textContent.includes(" + string(quoted) + ")")
}

// press presses the button with a text.
func (v *visitor) press(text string) {
	v.t.Helper()
	quoted, _ := json.Marshal(text)
	find := "[...document.querySelectorAll('#actions button')].find((b) => b.textContent === " + string(quoted) + ")"
	v.waits(find)
	eval[bool](v, find+".click(), true")
}

func TestATerminalIsTypedInReloadedWatchedAndTakenOver(t *testing.T) {
	s := newStack(t)
	p := s.publishTerminal("bash --norc", "ann@example.com")
	owner := s.openTerminal(t, p, "")
	owner.status("You type.")
	owner.enters(`PS1='$ '; seq 1 100; echo hällo 世界 | tr l L; printf '\e]0;Build <b>1</b>\a'`)
	owner.screen("häLLo 世界")
	owner.waits("document.title === 'Tower: Build <b>1</b>'")
	owner.types("half a li")
	owner.screen("$ half a li")
	before := eval[string](owner, screenText)
	owner.do(chromedp.Reload())
	owner.screen("$ half a li")
	if after := eval[string](owner, screenText); after != before {
		t.Errorf("after reloading got\n%s\nwant\n%s", after, before)
	}
	owner.types("ne")
	owner.screen("$ half a line")

	ann := s.openTerminal(t, p, "ann@example.com")
	ann.screen("$ half a line")
	ann.status("The owner types.")
	ann.types("ignored")
	ann.press("Take over")
	ann.status("You have asked The owner")
	owner.status("ann@example.com asks to take over.")
	owner.picture("terminal-asked")
	owner.press("Deny")
	ann.status("The owner types.")
	ann.press("Take over")
	owner.press("Allow")
	ann.status("You type.")
	ann.types(" of Ann")
	owner.screen("$ half a line of Ann")
	owner.press("Take over") // the owner need not ask
	owner.status("You type.")
	owner.picture("terminal") // which changes its size
	owner.press("Give back")
	ann.status("You type.")
}

func TestAProgramEndsAndIsStartedAgain(t *testing.T) {
	s := newStack(t)
	p := s.publishTerminal("echo started $$; read x; exit 3")
	v := s.openTerminal(t, p, "")
	v.screen("started")
	first := eval[string](v, screenText)
	v.enters("")
	v.status("The program has ended with exit code 3.")
	v.picture("terminal-ended")
	v.press("Start again")
	quoted, _ := json.Marshal(first)
	v.waits("(" + screenText + ") !== " + string(quoted))
	v.screen("started") // another process
	v.status("You type.")
}

func TestATerminalOutlivesTheGatewayAndTheBrowser(t *testing.T) {
	needs(t, "vim")
	s := newStack(t)
	p := s.publishTerminal("bash --norc")
	v := s.openTerminal(t, p, "")
	v.status("You type.")
	v.enters("PS1='$ '; x=remembered; vim -u NONE -c 'set nomodeline' file")
	v.screen("~")
	v.types("ihello from vim")
	v.screen("hello from vim")
	before := eval[string](v, screenText)
	s.gateway.kill()
	v.status("Connection lost.")
	s.startGateway()
	s.untilOnline(true)
	v.status("You type.")
	quoted, _ := json.Marshal(before)
	v.waits("(" + screenText + ") === " + string(quoted)) // the page draws it in several steps
	v.picture("terminal-vim")
	other := s.openTerminal(t, p, "") // a browser without the first one's cookies
	other.screen("hello from vim")
	other.press("Take over")
	other.status("You type.")
	other.do(chromedp.KeyEvent(kb.Escape))
	other.enters(":q!")
	other.screen("$")
	other.enters("echo $x | tr a-z A-Z")
	other.screen("REMEMBERED")
}

func TestATerminalShowsProgramsOfOthers(t *testing.T) {
	needs(t, "htop", "vim")
	s := newStack(t)
	p := s.publishTerminal("bash --norc")
	v := s.openTerminal(t, p, "")
	v.status("You type.")
	v.enters("PS1='$ '; htop")
	v.screen("F10")
	v.picture("terminal-htop")
	v.types("q")
	v.screen("$ ")
	v.enters(`for i in $(seq 0 10 100); do printf '\r[%-20s] %3d%%' "$(printf '#%.0s' $(seq 0 5 $i))" $i; done; echo`)
	v.screen("] 100%")
	began := time.Now()
	v.enters("head -c 37500000 /dev/urandom | base64; echo the END | tr a-z A-Z")
	v.screen("THE END")
	t.Logf("50 MB of output took %s", time.Since(began).Round(time.Millisecond))
	v.types("echo done")
	v.screen("$ echo done")
}

func TestAProgramEndsWithItsService(t *testing.T) {
	s := newStack(t)
	p := s.publishTerminal("echo $$ > pid; echo begun; sleep 1000")
	runs := func() bool {
		pid, err := os.ReadFile(filepath.Join(s.dir, "machine", "pid"))
		_, gone := os.Stat("/proc/" + strings.TrimSpace(string(pid)))
		return err == nil && gone == nil
	}
	wantEnd := func(what string, since time.Time) {
		t.Helper()
		until(t, "the program ends when "+what, func() bool { return !runs() })
		if took := time.Since(since); took > 2*time.Second {
			t.Errorf("the program ended %s after %s, want at most 2 s", took, what)
		}
	}
	v := s.openTerminal(t, p, "")
	v.screen("begun")
	if !runs() {
		t.Fatal("the program does not run")
	}
	s.call("service_update", map[string]any{"service_id": p.ID, "enabled": false})
	wantEnd("its service is turned off", time.Now())
	v.sees("There is nothing here")
	s.call("service_update", map[string]any{"service_id": p.ID, "enabled": true})
	v.open(p.URL)
	v.screen("begun")
	if !runs() {
		t.Fatal("the program was not started again")
	}
	s.call("service_delete", map[string]any{"service_id": p.ID})
	wantEnd("its service is deleted", time.Now())
}

func TestASmallWindowWatchesScaled(t *testing.T) {
	s := newStack(t)
	p := s.publishTerminal("bash --norc", "ann@example.com")
	owner := s.openTerminal(t, p, "")
	owner.status("You type.")
	owner.enters("PS1='$ '; stty size | tr ' ' x")
	ann := s.openTerminal(t, p, "ann@example.com")
	ann.status("The owner types.")
	ann.do(chromedp.EmulateViewport(390, 780, chromedp.EmulateMobile, chromedp.EmulateTouch))
	ann.waits("document.getElementById('keys').clientHeight > 0") // which a computer's keyboard does not need
	ann.status("larger than your window")
	ann.picture("terminal-watched")
	ann.do(chromedp.EmulateViewport(390, 780, chromedp.EmulateMobile, chromedp.EmulateTouch))
	ann.press("Take over")
	owner.press("Allow")
	ann.status("You type.")
	ann.click("#screen") // which shows a phone's keyboard
	ann.enters("stty size | tr ' ' x; cat -v")
	for _, key := range []string{"control", "escape", "tab", "up", "right"} {
		eval[bool](ann, fmt.Sprintf("document.querySelector('[data-key=%s]').click(), true", key))
		if key == "control" {
			ann.types("a")
		}
	}
	ann.do(chromedp.KeyEvent(kb.Enter))
	ann.screen("^A^[")
	ann.shot("terminal-keys")
	ann.picture("terminal-phone")
}
