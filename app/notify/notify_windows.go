package notify

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// toast shows plain notifications with PowerShell: without buttons, not removable, and under
// PowerShell's name. It is the fallback if the Windows Runtime is unavailable.
type toast struct{}

func open(actions Actions) (system, error) {
	if n, err := openNative(actions); err == nil {
		return n, nil
	}
	return toast{}, nil
}

// The texts are environment variables, so that they are never interpreted as script.
const toastScript = `$ErrorActionPreference = 'Stop'
[Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime] | Out-Null
$x = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$t = $x.GetElementsByTagName('text')
$t.Item(0).AppendChild($x.CreateTextNode($env:FAIRLEAD_TITLE)) | Out-Null
$t.Item(1).AppendChild($x.CreateTextNode($env:FAIRLEAD_BODY)) | Out-Null
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($x))`

func (toast) show(ctx context.Context, m Message) error {
	shell := filepath.Join(os.Getenv("SystemRoot"), "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
	cmd := exec.CommandContext(ctx, shell, "-NoProfile", "-NonInteractive", "-Command", toastScript)
	cmd.Env = append(os.Environ(), "FAIRLEAD_TITLE="+oneLine(m.Title, 100), "FAIRLEAD_BODY="+oneLine(m.Body, 300))
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("powershell: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func (toast) remove(context.Context, string) {}
func (toast) close()                         {}

var (
	user32           = syscall.NewLazyDLL("user32.dll")
	openInputDesktop = user32.NewProc("OpenInputDesktop")
	closeDesktop     = user32.NewProc("CloseDesktop")
)

// locked reports whether the input desktop cannot be opened, which means that it is the lock
// screen's.
func (toast) locked(context.Context) bool {
	const desktopSwitchDesktop = 0x100
	h, _, _ := openInputDesktop.Call(0, 0, desktopSwitchDesktop)
	if h == 0 {
		return true
	}
	closeDesktop.Call(h)
	return false
}
