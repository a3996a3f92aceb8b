package shell

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// powershell returns a command line that runs a script of PowerShell. Where the machine's shell is
// cmd.exe, the script is encoded, so that its quotes and special characters stay as they are.
func powershell(shell, script string) string {
	if base := strings.ToLower(shell); !strings.HasSuffix(base, "cmd.exe") {
		return script // the shell is PowerShell already
	}
	var raw []byte
	for _, u := range utf16.Encode([]rune(script)) {
		raw = append(raw, byte(u), byte(u>>8))
	}
	return "powershell.exe -NoProfile -EncodedCommand " + base64.StdEncoding.EncodeToString(raw)
}
