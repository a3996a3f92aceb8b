package shell

import (
	"encoding/base64"
	"unicode/utf16"
)

// exitCode makes PowerShell end with the exit code of the last program instead of 1 for every
// failure. It is on a line of its own, so that a comment at the end of the command does not hide
// it.
const exitCode = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }"

// utf8Output makes PowerShell print UTF-8 to a pipe instead of the machine's code page.
const utf8Output = "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); "

// powershell returns a command line for cmd.exe that runs a script of PowerShell. The script is
// encoded, so that its quotes and special characters stay as they are. Without -OutputFormat, errors
// would be printed as XML.
func powershell(script string) string {
	var raw []byte
	for _, u := range utf16.Encode([]rune(utf8Output + script + exitCode)) {
		raw = append(raw, byte(u), byte(u>>8))
	}
	return "powershell.exe -NoProfile -OutputFormat Text -EncodedCommand " + base64.StdEncoding.EncodeToString(raw)
}
