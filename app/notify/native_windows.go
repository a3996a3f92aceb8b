package notify

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows/registry"
)

// appID is the name under which Windows stores the person's settings for our notifications.
const appID = "Fairlead.Desktop"

// native shows notifications with buttons through the Windows Runtime. This process receives the
// clicks while it runs, and removes its notifications when it exits. All methods except forward are
// called by one goroutine, which is locked to its thread.
type native struct {
	toast
	notifier, toasts *unknown
	shown            map[string]*unknown
	order            []string // IDs, oldest first
	clicks           chan string
	done             sync.WaitGroup
}

// maxNative is the number of notifications that can still be removed.
const maxNative = 32

func openNative(actions Actions) (_ *native, err error) {
	if err := available(); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // never unlocked: the thread belongs to the apartment
	const multiThreaded = 1
	if hr, _, _ := roInitialize.Call(multiThreaded); result(hr) != nil {
		runtime.UnlockOSThread()
		return nil, result(hr)
	}
	if err := register(); err != nil {
		return nil, err
	}
	n := &native{shown: make(map[string]*unknown), clicks: make(chan string, maxWaiting)}
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
	setActivated(n.click)
	n.done.Go(func() { n.forward(actions) })
	return n, nil
}

// register registers our name with Windows, which shows no notifications without it. It does not
// affect other programs or other users.
func register() error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, `Software\Classes\AppUserModelId\`+appID, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("registering for notifications: %w", err)
	}
	defer k.Close()
	return k.SetStringValue("DisplayName", "Fairlead")
}

func (n *native) show(ctx context.Context, m Message) error {
	switch err := n.showNative(m); {
	case err == nil, errors.Is(err, errOff):
		return err
	default:
		return n.toast.show(ctx, m)
	}
}

func (n *native) showNative(m Message) error {
	var setting int32
	if err := n.notifier.call(methodSetting, uintptr(unsafe.Pointer(&setting))); err != nil {
		return err
	}
	if setting != 0 {
		return errOff
	}
	doc, err := document(toastXML(m))
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
	n.take(m.ID)
	if err := n.notifier.call(methodShow, uintptr(unsafe.Pointer(t))); err != nil {
		t.release()
		return fmt.Errorf("showing a notification: %w", err)
	}
	n.shown[m.ID] = t
	if n.order = append(n.order, m.ID); len(n.order) > maxNative {
		n.take(n.order[0])
	}
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

// toastXML is the notification in the toast content schema. The arguments of a click are the action
// and the message's ID.
func toastXML(m Message) string {
	var b strings.Builder
	quote := func(s string) string {
		var out bytes.Buffer
		if xml.EscapeText(&out, []byte(s)) != nil {
			return ""
		}
		return out.String()
	}
	fmt.Fprintf(&b, `<toast launch="review:%s"><visual><binding template="ToastGeneric"><text>%s</text><text>%s</text></binding></visual><actions>`,
		quote(m.ID), quote(oneLine(m.Title, 100)), quote(oneLine(m.Body, 300)))
	fmt.Fprintf(&b, `<action content="%s" arguments="review:%s"/>`, m.button(), quote(m.ID))
	if m.Deny {
		fmt.Fprintf(&b, `<action content="Deny" arguments="deny:%s"/>`, quote(m.ID))
	}
	b.WriteString("</actions></toast>")
	return b.String()
}

func (n *native) remove(_ context.Context, id string) { n.take(id) }

// take removes a notification.
func (n *native) take(id string) {
	t := n.shown[id]
	if t == nil {
		return
	}
	_ = n.notifier.call(methodHide, uintptr(unsafe.Pointer(t))) // it may be gone already
	t.release()
	delete(n.shown, id)
	for i, x := range n.order {
		if x == id {
			n.order = append(n.order[:i], n.order[i+1:]...)
			break
		}
	}
}

// click is called on a thread of the system.
func (n *native) click(arguments string) {
	select {
	case n.clicks <- arguments:
	default: // drop it: more clicks than a person can make
	}
}

// forward delivers clicks one at a time.
func (n *native) forward(actions Actions) {
	for c := range n.clicks {
		switch what, id, ok := strings.Cut(c, ":"); {
		case !ok:
		case what == "review":
			actions.Review(id)
		case what == "deny":
			actions.Deny(id)
		}
	}
}

func (n *native) close() {
	setActivated(nil)
	for id := range n.shown {
		n.take(id)
	}
	n.toasts.release()
	n.notifier.release()
	close(n.clicks)
	n.done.Wait()
}
