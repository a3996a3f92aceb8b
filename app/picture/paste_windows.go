package picture

import (
	"os/exec"
	"syscall"
)

// pasteCommand prints the clipboard's picture as base64-encoded PNG, because PowerShell's output is
// text. The clipboard is only accessible from a single-threaded apartment (-STA).
func pasteCommand() []string {
	const script = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$picture = [System.Windows.Forms.Clipboard]::GetImage()
if ($picture -eq $null) { exit 1 }
$out = New-Object System.IO.MemoryStream
$picture.Save($out, [System.Drawing.Imaging.ImageFormat]::Png)
[Console]::Out.Write([Convert]::ToBase64String($out.ToArray()))`
	return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", script}
}

// hideConsole starts the program without a console window.
func hideConsole(cmd *exec.Cmd) {
	const createNoWindow = 0x08000000
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: createNoWindow}
}
