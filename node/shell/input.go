package shell

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// maxTyped is the number of bytes of earlier input that the lines of a shell are judged with.
const maxTyped = 16 << 10

// typed is what was typed into a command. It is safe for concurrent use.
type typed struct {
	mu   sync.Mutex
	text strings.Builder
	long bool
}

func (t *typed) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.long = t.long || t.text.Len()+len(text) > maxTyped; !t.long {
		t.text.WriteString(text)
	}
}

func (t *typed) all() (text string, complete bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(t.text.String(), "\r", "\n"), !t.long
}

// previewInput describes a text for the input of a running command. The checksum makes an answer
// hold only until something else is typed.
func previewInput(j *job, text string) protocol.CallPreview {
	in := protocol.CommandInput{ID: j.id, Command: j.command, Text: text}
	before, complete := j.typed.all()
	if shell := j.plainShell(text); shell != "" && complete && (before == "" || strings.HasSuffix(before, "\n")) {
		in.Shell, in.Before, in.Text = shell, before, strings.ReplaceAll(text, "\r", "\n")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", j.id, in.Shell, before))
	return protocol.CallPreview{Folder: workspace.Spell(j.dir), Input: &in, FileSHA256: fmt.Sprintf("%x", sum)}
}

// plainShells are the shells whose language the gateway can judge.
var plainShells = []string{"bash", "sh", "dash", "zsh"}

// plainOptions are the options with which a shell still only reads lines of its language.
var plainOptions = []string{"--norc", "--noprofile", "--posix", "--login", "-l", "-i", "-s", "-f"}

// plainShell returns the shell that reads a text as complete lines of its language, "" if another
// program may read it, or if keys or a history may change it.
func (j *job) plainShell(text string) string {
	name := lineReader(j.command, text, j.tty)
	if name == "" || j.isForeign || runtime.GOOS == "windows" || !j.runsOnly(name) {
		return ""
	}
	return name
}

// lineReader is plainShell for a command line, which may have started other programs by now.
func lineReader(command, text string, tty bool) string {
	words := strings.Fields(strings.TrimPrefix(command, "exec "))
	if len(words) == 0 {
		return ""
	}
	name := filepath.Base(words[0])
	unknown := func(w string) bool { return !slices.Contains(plainOptions, w) }
	if !slices.Contains(plainShells, name) || slices.ContainsFunc(words[1:], unknown) {
		return ""
	}
	line := strings.ReplaceAll(text, "\r", "\n")
	isKey := func(r rune) bool { return r != '\n' && unicode.IsControl(r) }
	if !strings.HasSuffix(line, "\n") || strings.ContainsFunc(line, isKey) {
		return ""
	}
	if isTyped := tty || slices.Contains(words, "-i"); isTyped && strings.ContainsAny(line, "!^") || isTyped && name == "zsh" && strings.Contains(line, "#") {
		return "" // the history, and comments that zsh runs
	}
	return name
}

// runsOnly reports whether a command's processes are certainly a shell that waits for input and at
// most the shell that started it.
func (j *job) runsOnly(shell string) bool {
	pids := j.child.Processes()
	if len(pids) == 1 {
		return true
	}
	for _, pid := range pids {
		if name := processName(pid); name != shell && !slices.Contains(plainShells, name) {
			return false
		}
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", j.pid))
	return len(pids) == 2 && err == nil && strings.Contains(string(line), "\x00"+j.command+"\x00")
}

// processName returns the name of a process, "" where the system does not list them so.
func processName(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(name))
}
