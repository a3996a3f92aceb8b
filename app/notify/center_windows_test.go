package notify

import (
	"encoding/xml"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestWindowsToastsAreWellFormed parses the documents for Windows, with texts that contain markup.
func TestWindowsToastsAreWellFormed(t *testing.T) {
	const evil = `"><action content="Allow" arguments="allow:1"/> & ' <b>` + "\x00\x1b\u202e"
	var got struct {
		Launch  string   `xml:"launch,attr"`
		Texts   []string `xml:"visual>binding>text"`
		Actions []struct {
			Content   string `xml:"content,attr"`
			Arguments string `xml:"arguments,attr"`
		} `xml:"actions>action"`
	}
	if err := xml.Unmarshal([]byte(toastXML(evil, Message{Title: evil, Body: evil, Allow: true, Deny: true})), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Texts) != 2 || len(got.Actions) != 3 || !strings.Contains(got.Texts[0], "<action") {
		t.Errorf(`got %+v; want Texts of length 2, Actions of length 3 and "<action" in Texts[0]`, got)
	}
	if got.Actions[0].Content != "Allow once" || got.Actions[1].Content != "Deny" || got.Actions[2].Content != "Review" ||
		!strings.HasPrefix(got.Launch, "review:") || !strings.HasPrefix(got.Actions[1].Arguments, "deny:") {
		t.Errorf("got %+v; want Allow once, Deny and Review, and a launch argument of review", got)
	}
}

// TestWindowsClicksArriveInOrder calls the handler as the system does: through its method table.
func TestWindowsClicksArriveInOrder(t *testing.T) {
	h := onActivated()
	var out uintptr
	for _, c := range []struct {
		iid  windows.GUID
		want uintptr
	}{{iidUnknown, sOK}, {iidAgile, sOK}, {iidOnActivated, sOK}, {iidManager, eNoInterface}} {
		hr, _, _ := syscall.SyscallN(h.table[0], uintptr(unsafe.Pointer(h)), uintptr(unsafe.Pointer(&c.iid)), uintptr(unsafe.Pointer(&out)))
		if uint32(hr) != uint32(c.want) || (out != 0) != (c.want == sOK) {
			t.Errorf("%v: 0x%x, %x", c.iid, hr, out)
		}
	}
	if hr, _, _ := syscall.SyscallN(h.table[0], uintptr(unsafe.Pointer(h)), 0, 0); uint32(hr) != ePointer {
		t.Errorf("nil: 0x%x", hr)
	}
	if hr, _, _ := syscall.SyscallN(h.table[3], uintptr(unsafe.Pointer(h)), 0, 0); hr != sOK {
		t.Errorf("an event without arguments: 0x%x, want %x", hr, sOK)
	}
	var got []event
	setActivated(func(arguments string) { got = append(got, clickEvent(arguments)) })
	for _, c := range []string{"review:1:2", "deny:3", ""} {
		activated.Lock()
		activated.call(c)
		activated.Unlock()
	}
	setActivated(nil)
	if want := []event{{keyReview, "1:2"}, {keyDeny, "3"}, {}}; !slices.Equal(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
}

// TestWindowsCenterOpensAndCloses needs the Windows Runtime, which Wine has only in part.
func TestWindowsCenterOpensAndCloses(t *testing.T) {
	sys, err := open(Actions{})
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%T", sys)
	sys.remove(t.Context(), "none")
	sys.close()
}

// TestWindowsEventsAreReadToTheirArguments passes the handler an event created by the test, with
// the system's strings.
func TestWindowsEventsAreReadToTheirArguments(t *testing.T) {
	var event unknown
	released := 0
	event.table = &[32]uintptr{
		methodQuery: windows.NewCallback(func(this uintptr, iid *windows.GUID, out *uintptr) uintptr {
			if *iid != iidActivated {
				return eNoInterface
			}
			*out = this
			return sOK
		}),
		methodRelease: windows.NewCallback(func(uintptr) uintptr { released++; return 0 }),
		methodArguments: windows.NewCallback(func(_ uintptr, out *uintptr) uintptr {
			h, err := hstring("deny:ä-✓-1")
			if err != nil {
				return ePointer
			}
			*out = h
			return sOK
		}),
	}
	var got []string
	setActivated(func(arguments string) { got = append(got, arguments) })
	defer setActivated(nil)
	h := onActivated()
	for range 3 {
		if hr, _, _ := syscall.SyscallN(h.table[3], uintptr(unsafe.Pointer(h)), 0, uintptr(unsafe.Pointer(&event))); hr != sOK {
			t.Fatalf("0x%x, want %v", hr, sOK)
		}
	}
	if strings.Join(got, " ") != "deny:ä-✓-1 deny:ä-✓-1 deny:ä-✓-1" || released != 3 {
		t.Errorf("%q, released %d times", got, released)
	}
}
