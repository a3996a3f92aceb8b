package notify

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// This file has the part of the Windows Runtime that notifications need: strings, factories, and
// method calls by their index in an interface's table (windows.ui.notifications.idl,
// windows.data.xml.dom.idl of the Windows SDK). All calls are made on one thread in the
// multi-threaded apartment; only a handler's methods are called on threads of the system.

var (
	combase             = windows.NewLazySystemDLL("combase.dll")
	roInitialize        = combase.NewProc("RoInitialize")
	roGetFactory        = combase.NewProc("RoGetActivationFactory")
	roActivate          = combase.NewProc("RoActivateInstance")
	createString        = combase.NewProc("WindowsCreateString")
	deleteString        = combase.NewProc("WindowsDeleteString")
	stringBuffer        = combase.NewProc("WindowsGetStringRawBuffer")
	errNoWindowsRuntime = errors.New("this Windows has no Windows Runtime")
)

var (
	iidManager     = windows.GUID{Data1: 0x50ac103f, Data2: 0xd235, Data3: 0x4598, Data4: [8]byte{0xbb, 0xef, 0x98, 0xfe, 0x4d, 0x1a, 0x3a, 0xd4}}
	iidToasts      = windows.GUID{Data1: 0x04124b20, Data2: 0x82c6, Data3: 0x4229, Data4: [8]byte{0xb1, 0x09, 0xfd, 0x9e, 0xd4, 0x66, 0x2b, 0x53}}
	iidXML         = windows.GUID{Data1: 0xf7f3a506, Data2: 0x1e87, Data3: 0x42d6, Data4: [8]byte{0xbc, 0xfb, 0xb8, 0xc8, 0x09, 0xfa, 0x54, 0x94}}
	iidXMLIO       = windows.GUID{Data1: 0x6cd0e74e, Data2: 0xee65, Data3: 0x4489, Data4: [8]byte{0x9e, 0xbf, 0xca, 0x43, 0xe8, 0x7b, 0xa6, 0x37}}
	iidActivated   = windows.GUID{Data1: 0xe3bf92f3, Data2: 0xc197, Data3: 0x436f, Data4: [8]byte{0x82, 0x65, 0x06, 0x25, 0x82, 0x4f, 0x8d, 0xac}}
	iidOnActivated = windows.GUID{Data1: 0xab54de2d, Data2: 0x97d9, Data3: 0x5528, Data4: [8]byte{0xb6, 0xad, 0x10, 0x5a, 0xfe, 0x15, 0x65, 0x30}}
	iidUnknown     = windows.GUID{Data4: [8]byte{0xc0, 0, 0, 0, 0, 0, 0, 0x46}}
	iidAgile       = windows.GUID{Data1: 0x94ea2b94, Data2: 0xe9cc, Data3: 0x49e0, Data4: [8]byte{0xc0, 0xff, 0xee, 0x64, 0xca, 0x8f, 0x5b, 0x90}}
)

// Indexes of methods. The first three are IUnknown's, the next three IInspectable's.
const (
	methodQuery            = 0
	methodRelease          = 2
	methodArguments        = 6    // IToastActivatedEventArgs
	methodLoadXML          = 6    // IXmlDocumentIO
	methodCreateToast      = 6    // IToastNotificationFactory
	methodNotifierWithID   = 7    // IToastNotificationManagerStatics
	methodShow, methodHide = 6, 7 // IToastNotifier
	methodSetting          = 8    // IToastNotifier
	methodAddActivated     = 11   // IToastNotification
)

const (
	sOK          = 0
	eNoInterface = 0x80004002
	ePointer     = 0x80004003
)

// unknown is a reference to an object of the system, or nil.
type unknown struct{ table *[32]uintptr }

// call calls the method with an index.
//
//go:uintptrescapes
func (u *unknown) call(place int, args ...uintptr) error {
	all := append([]uintptr{uintptr(unsafe.Pointer(u))}, args...)
	hr, _, _ := syscall.SyscallN(u.table[place], all...)
	return result(hr)
}

// as returns another interface of an object, which the caller must release, too.
func (u *unknown) as(iid *windows.GUID) (*unknown, error) {
	var out *unknown
	if err := u.call(methodQuery, uintptr(unsafe.Pointer(iid)), uintptr(unsafe.Pointer(&out))); err != nil {
		return nil, err
	}
	return nonNil(out)
}

func (u *unknown) release() {
	if u != nil {
		syscall.SyscallN(u.table[methodRelease], uintptr(unsafe.Pointer(u)))
	}
}

// nonNil returns an error for a success without an object.
func nonNil(u *unknown) (*unknown, error) {
	if u == nil || u.table == nil {
		return nil, errNoWindowsRuntime
	}
	return u, nil
}

// result converts an HRESULT to an error; values that are not negative are successes.
func result(hr uintptr) error {
	if int32(hr) < 0 { //nolint:gosec // an HRESULT is 32 bits wide
		return fmt.Errorf("windows runtime: %w (0x%08x)", syscall.Errno(uint32(hr)), uint32(hr)) //nolint:gosec // as above
	}
	return nil
}

// hstring is a string of the Windows Runtime; the caller must free it.
func hstring(s string) (uintptr, error) {
	chars, err := windows.UTF16FromString(s)
	if err != nil {
		return 0, err
	}
	var h uintptr
	hr, _, _ := createString.Call(uintptr(unsafe.Pointer(&chars[0])), uintptr(len(chars)-1), uintptr(unsafe.Pointer(&h)))
	return h, result(hr)
}

func free(h uintptr) { deleteString.Call(h) }

func text(h uintptr) string {
	var n uint32
	p, _, _ := stringBuffer.Call(h, uintptr(unsafe.Pointer(&n)))
	if p == 0 || n == 0 || n > 4096 {
		return ""
	}
	// memory of the system, which does not move
	return windows.UTF16ToString(unsafe.Slice(*(**uint16)(unsafe.Pointer(&p)), n))
}

// factory returns an interface of a class's factory.
func factory(class string, iid *windows.GUID) (*unknown, error) {
	h, err := hstring(class)
	if err != nil {
		return nil, err
	}
	defer free(h)
	var out *unknown
	hr, _, _ := roGetFactory.Call(h, uintptr(unsafe.Pointer(iid)), uintptr(unsafe.Pointer(&out)))
	if err := result(hr); err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	return nonNil(out)
}

// instance returns a new object of a class.
func instance(class string) (*unknown, error) {
	h, err := hstring(class)
	if err != nil {
		return nil, err
	}
	defer free(h)
	var out *unknown
	hr, _, _ := roActivate.Call(h, uintptr(unsafe.Pointer(&out)))
	if err := result(hr); err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	return nonNil(out)
}

// handler is called for all actions on notifications, and never freed: late calls are safe.
type handler struct{ table *[4]uintptr }

// activated receives the arguments of a click, on a thread of the system. It must not block.
var activated struct {
	sync.Mutex
	call func(arguments string) // nil: clicks are ignored
}

// setActivated sets the receiver of clicks; the previous one is not called afterwards.
func setActivated(f func(arguments string)) {
	activated.Lock()
	defer activated.Unlock()
	activated.call = f
}

var (
	handlerTable [4]uintptr
	theHandler   = handler{&handlerTable}
	onActivated  = sync.OnceValue(func() *handler {
		handlerTable = [4]uintptr{
			windows.NewCallback(handlerQuery), windows.NewCallback(handlerCount), windows.NewCallback(handlerCount), windows.NewCallback(handlerInvoke),
		}
		return &theHandler
	})
)

func handlerQuery(this uintptr, iid *windows.GUID, out *uintptr) uintptr {
	switch {
	case out == nil || iid == nil:
		return ePointer
	case *iid == iidUnknown || *iid == iidAgile || *iid == iidOnActivated:
		*out = this
		return sOK
	}
	*out = 0
	return eNoInterface
}

// handlerCount implements AddRef and Release: the handler lives as long as the program.
func handlerCount(uintptr) uintptr { return 1 }

func handlerInvoke(_ uintptr, _ uintptr, args *unknown) uintptr {
	if args == nil || args.table == nil {
		return sOK
	}
	event, err := args.as(&iidActivated)
	if err != nil {
		return sOK
	}
	defer event.release()
	var h uintptr
	if event.call(methodArguments, uintptr(unsafe.Pointer(&h))) == nil {
		arguments := text(h)
		free(h)
		activated.Lock()
		defer activated.Unlock()
		if activated.call != nil {
			activated.call(arguments)
		}
	}
	return sOK
}
