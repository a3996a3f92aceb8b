//go:build darwin && cgo

package notify

/*
#cgo CFLAGS: -fobjc-arc
#cgo LDFLAGS: -framework Foundation -framework UserNotifications
#include <stdlib.h>
#include "center_darwin.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"
)

// open opens the notification center of macOS, which requires a bundle with an identifier.
func open(actions Actions) (system, error) {
	if !C.fairleadBundled() {
		return script{}, nil
	}
	return openCenter(openMac, script{}, actions), nil
}

// mac is UNUserNotificationCenter.
type mac struct{}

// receiver receives the events: the system calls on its own threads, without a context value.
var receiver struct {
	sync.Mutex
	send func(event)
}

func openMac(send func(event)) center {
	receiver.Lock()
	receiver.send = send
	receiver.Unlock()
	review, allow, deny := C.CString(keyReview), C.CString(keyAllow), C.CString(keyDeny)
	defer C.free(unsafe.Pointer(review))
	defer C.free(unsafe.Pointer(allow))
	defer C.free(unsafe.Pointer(deny))
	C.fairleadOpen(review, allow, deny)
	return mac{}
}

//export fairleadTell
func fairleadTell(what, name *C.char) {
	receiver.Lock()
	defer receiver.Unlock()
	if receiver.send != nil {
		receiver.send(event{what: C.GoString(what), name: C.GoString(name)})
	}
}

func (mac) close() {
	C.fairleadClose()
	receiver.Lock()
	receiver.send = nil
	receiver.Unlock()
}

// left returns the remaining time of ctx in milliseconds.
func left(ctx context.Context) C.int64_t {
	end, _ := ctx.Deadline() // set by the notifier
	return C.int64_t(max(0, time.Until(end).Milliseconds()))
}

func (mac) rights(ctx context.Context) (permission, error) {
	var style C.int
	status := C.fairleadRights(left(ctx), &style)
	if status < 0 {
		return 0, errors.New("macOS does not report whether Fairlead may show notifications")
	}
	return permissionOf(int(status), int(style)), nil
}

func (mac) ask() {
	yes, no, failed := C.CString(answerYes), C.CString(answerNo), C.CString(answerFailed)
	defer C.free(unsafe.Pointer(yes))
	defer C.free(unsafe.Pointer(no))
	defer C.free(unsafe.Pointer(failed))
	C.fairleadAsk(yes, no, failed)
}

func (mac) post(ctx context.Context, name string, m Message) error {
	id, title, body := C.CString(name), C.CString(m.Title), C.CString(m.Body)
	defer C.free(unsafe.Pointer(id))
	defer C.free(unsafe.Pointer(title))
	defer C.free(unsafe.Pointer(body))
	if why := C.fairleadPost(id, title, body, C.bool(m.Allow), C.bool(m.Deny), C.bool(m.Sound), left(ctx)); why != nil {
		defer C.free(unsafe.Pointer(why))
		return fmt.Errorf("showing a notification: %s", C.GoString(why))
	}
	return nil
}

func (mac) take(name string) {
	id := C.CString(name)
	defer C.free(unsafe.Pointer(id))
	C.fairleadTake(id)
}
