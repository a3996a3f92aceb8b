//go:build desktop

package desktoptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// keepQuestion is the title of the question whether to keep what a command changed unasked.
const keepQuestion = "^Keep "

// openTrusted opens a program whose main chat is trusted, so that its commands are not asked about.
// The model calls Bash with the given arguments, one call after the other.
func openTrusted(t *testing.T, bash func() []string) *approvalProgram {
	t.Helper()
	d := startApprovalProgram(t)
	d.useDarkTheme(d.c)
	d.clickText(mainWindow, "Start now")
	model := fakeModel(t, func(names []string, done int) []modelCall {
		for _, name := range names {
			if list := bash(); strings.HasSuffix(name, "__Bash") && done < len(list) {
				return []modelCall{{name, list[done]}}
			}
		}
		return nil
	}, "The paper model has finished.")
	mode := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model": map[string]string{"provider": "compatible", "id": "paper-model"},
	} {
		if err := setConfig(d.c, path, value); err != nil {
			t.Fatal(err)
		}
	}
	patch := protocol.SessionPatchParams{SessionKey: protocol.MainSession, Settings: &protocol.SessionPrefsPatch{Approvals: &mode}}
	if _, err := client.Call(t.Context(), d.c, protocol.SessionPatch, patch); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestProtectedFileIsChangedOnlyWhenAllowed lets a trusted command change a start-up
// file, which fails and says why. The agent asks for it, and the person allows it.
func TestProtectedFileIsChangedOnlyWhenAllowed(t *testing.T) {
	// in parts, so that only the kernel sees which files the command writes
	const script = `{"command":"for f in env bash; do echo changed >.${f}rc; done"`
	d := openTrusted(t, func() []string { return []string{script + `}`, script + `,"changes":[".envrc"]}`} })
	files := map[string]string{".envrc": "export A=1\n", ".bashrc": "alias a=b\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d.workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string) {
		t.Helper()
		for name, want := range files {
			if got, _ := os.ReadFile(filepath.Join(d.workspace, name)); string(got) != want {
				t.Errorf("%s, %s: got %q, want %q", when, name, got, want)
			}
		}
	}

	d.send(protocol.MainSession, "change my environment")
	d.waitText(question, "no other protected file")
	d.waitText(question, ".envrc")
	d.screenshot("asked")
	expect("before the answer")
	if text := d.messages(protocol.MainSession)[2].Content.Text(); !strings.Contains(text, ".envrc") || !strings.Contains(text, "protected") || !strings.Contains(text, "ask for it") {
		t.Errorf(`the result of the refused command: %s; want one with ".envrc"`, text)
	}
	d.clickAction("Allow once")
	d.waitNoWindow(question)
	d.waitText(mainWindow, "paper model has finished")
	d.screenshot("allowed")
	files[".envrc"] = "changed\n"
	expect("after the answer")
}

// TestUnapprovedChangeIsKeptOrDiscarded lets a trusted command create a hook, which is
// undone, and answers the question about it both ways.
func TestUnapprovedChangeIsKeptOrDiscarded(t *testing.T) {
	const script = `{"command":"perl -e 'mkdir q(.hus).q(ky); open F, q(>.hus).q(ky/pre-commit); print F q(echo hook)'"}`
	d := openTrusted(t, func() []string { return []string{script} })
	hook := filepath.Join(d.workspace, ".husky", "pre-commit")
	exists := func() bool { _, err := os.Stat(hook); return err == nil }

	d.send(protocol.MainSession, "create a hook")
	d.waitText(keepQuestion, "next commit")
	d.waitText(mainWindow, "paper model has finished")
	d.screenshot("asked")
	if exists() {
		t.Error("the hook is in the workspace before the answer")
	}
	d.clickText(keepQuestion, "Discard")
	d.waitNoWindow(keepQuestion)
	if exists() {
		t.Error("the discarded hook is in the workspace")
	}

	if err := os.Remove(filepath.Dir(hook)); err != nil { // the folder would be protected now
		t.Fatal(err)
	}
	d.send(protocol.MainSession, "create it again")
	d.waitWindow(keepQuestion)
	d.waitFor("the hook", func() bool {
		if now, ok := d.windowNamed(keepQuestion); ok {
			if areas := d.colouredAreas(buttonRow(now)); len(areas) == 1 {
				d.click(areas[0].Min.Add(areas[0].Size().Div(2)))
			}
		}
		return exists()
	})
	d.waitNoWindow(keepQuestion)
	d.screenshot("kept")
	if got, _ := os.ReadFile(hook); string(got) != "echo hook" {
		t.Errorf(`the kept hook: got %q, want "echo hook"`, got)
	}

	// The machine's page says what is protected.
	d.openPageOfMain("Machines")
	d.click(d.waitTextIn(mainWindow, "this computer", content))
	d.waitTextIn(mainWindow, "except files that start programs", content)
	d.click(d.waitTextIn(mainWindow, "Details", content))
	d.waitTextIn(mainWindow, "cannot change files that run later", content)
	d.screenshot("machine")
}
