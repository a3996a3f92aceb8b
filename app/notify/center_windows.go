package notify

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// appID is the name under which Windows stores the person's settings for our notifications.
const appID = "Fairlead.Desktop"

// native is the notification center of Windows; its notifications end with this process.
type native struct {
	notifier, toasts *unknown
	shown            map[string]*unknown // by name
}

// open must be called on the goroutine that then shows notifications: it is locked to its thread.
func open(actions Actions) (_ system, err error) {
	runtime.LockOSThread() // never unlocked: the thread belongs to the apartment
	const multiThreaded = 1
	if hr, _, _ := roInitialize.Call(multiThreaded); result(hr) != nil {
		runtime.UnlockOSThread()
		return nil, result(hr)
	}
	if err := register(); err != nil {
		return nil, err
	}
	n := &native{shown: make(map[string]*unknown)}
	defer func() {
		if err != nil {
			n.toasts.release()
			n.notifier.release()
		}
	}()
	manager, err := factory("Windows.UI.Notifications.ToastNotificationManager", &iidManager)
	if err != nil {
		return nil, err
	}
	defer manager.release()
	id, err := hstring(appID)
	if err != nil {
		return nil, err
	}
	defer free(id)
	if err := manager.call(methodNotifierWithID, id, uintptr(unsafe.Pointer(&n.notifier))); err != nil {
		return nil, fmt.Errorf("creating a notifier: %w", err)
	}
	if n.notifier, err = nonNil(n.notifier); err != nil {
		return nil, err
	}
	if n.toasts, err = factory("Windows.UI.Notifications.ToastNotification", &iidToasts); err != nil {
		return nil, err
	}
	return openCenter(func(send func(event)) center {
		setActivated(func(arguments string) { send(clickEvent(arguments)) })
		return n
	}, lockScreen{}, actions), nil
}

// clickEvent returns the event for the arguments of a click; see [toastXML].
func clickEvent(arguments string) event {
	action, name, _ := strings.Cut(arguments, ":")
	return event{what: action, name: name}
}

// register registers our name for this user: Windows shows no notifications without it.
func register() error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, `Software\Classes\AppUserModelId\`+appID, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("registering for notifications: %w", err)
	}
	defer k.Close()
	return k.SetStringValue("DisplayName", "Fairlead")
}

func (n *native) rights(context.Context) (permission, error) {
	var setting int32
	err := n.notifier.call(methodSetting, uintptr(unsafe.Pointer(&setting)))
	if setting != 0 {
		return refused, err
	}
	return granted, err
}

func (*native) ask() {} // Windows needs no permission

func (n *native) post(_ context.Context, name string, m Message) error {
	doc, err := document(toastXML(name, m))
	if err != nil {
		return err
	}
	defer doc.release()
	var t *unknown
	if err := n.toasts.call(methodCreateToast, uintptr(unsafe.Pointer(doc)), uintptr(unsafe.Pointer(&t))); err != nil {
		return fmt.Errorf("creating a notification: %w", err)
	}
	if t, err = nonNil(t); err != nil {
		return err
	}
	var token int64
	if err := t.call(methodAddActivated, uintptr(unsafe.Pointer(onActivated())), uintptr(unsafe.Pointer(&token))); err != nil {
		t.release()
		return fmt.Errorf("listening to a notification: %w", err)
	}
	n.take(name)
	if err := n.notifier.call(methodShow, uintptr(unsafe.Pointer(t))); err != nil {
		t.release()
		return fmt.Errorf("showing a notification: %w", err)
	}
	n.shown[name] = t
	return nil
}

// document returns a notification as an XML document of the system.
func document(s string) (*unknown, error) {
	made, err := instance("Windows.Data.Xml.Dom.XmlDocument")
	if err != nil {
		return nil, err
	}
	defer made.release()
	load, err := made.as(&iidXMLIO)
	if err != nil {
		return nil, err
	}
	defer load.release()
	h, err := hstring(s)
	if err != nil {
		return nil, err
	}
	defer free(h)
	if err := load.call(methodLoadXML, h); err != nil {
		return nil, fmt.Errorf("writing a notification: %w", err)
	}
	return made.as(&iidXML)
}

// toastXML returns the notification; a click sends its action and name as arguments.
func toastXML(name string, m Message) string {
	quote := func(s string) string {
		var out bytes.Buffer
		xml.EscapeText(&out, []byte(s)) //nolint:errcheck // a buffer takes all
		return out.String()
	}
	action := func(label, key string) string {
		return fmt.Sprintf(`<action content="%s" arguments="%s:%s"/>`, label, key, quote(name))
	}
	actions := ""
	for _, b := range m.buttons() {
		actions += action(b.label, b.key)
	}
	return fmt.Sprintf(`<toast launch="%s:%s"><visual><binding template="ToastGeneric"><text>%s</text><text>%s</text></binding></visual><audio silent="%t"/><actions>%s</actions></toast>`,
		keyReview, quote(name), quote(m.Title), quote(m.Body), !m.Sound, actions)
}

func (n *native) take(name string) {
	if t := n.shown[name]; t != nil {
		_ = n.notifier.call(methodHide, uintptr(unsafe.Pointer(t))) // it may be gone already
		t.release()
		delete(n.shown, name)
	}
}

func (n *native) close() {
	setActivated(nil)
	for name := range n.shown {
		n.take(name)
	}
	n.toasts.release()
	n.notifier.release()
}

var (
	user32           = windows.NewLazySystemDLL("user32.dll")
	openInputDesktop = user32.NewProc("OpenInputDesktop")
	closeDesktop     = user32.NewProc("CloseDesktop")
)

// lockScreen detects the lock; it is never asked to show notifications.
type lockScreen struct{ system }

// locked reports whether the input desktop cannot be opened: it is the lock screen's.
func (lockScreen) locked(context.Context) bool {
	const desktopSwitchDesktop = 0x100
	h, _, _ := openInputDesktop.Call(0, 0, desktopSwitchDesktop)
	if h == 0 {
		return true
	}
	closeDesktop.Call(h)
	return false
}
