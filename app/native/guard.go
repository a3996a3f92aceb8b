package native

import (
	"reflect"
	"unsafe"

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"

	"fairlead/gateway/peer/crash"
)

// event is the work that a panic in a handler names in the log.
const event = "event of a window"

// Fyne notes a movement of the pointer, and looks at it after it has handled all events that have
// arrived (fyne 2.8.0, internal/driver/glfw/loop.go).
//
//go:linkname processMouseMoved fyne.io/fyne/v2/internal/driver/glfw.(*window).processMouseMoved
func processMouseMoved(window unsafe.Pointer, x, y float64)

// GuardEvents makes a panic about an event of a window, such as a click or a key, the failure of that
// event alone. The toolkit calls its own handlers and ours without that. It also makes clicks and
// drops happen where the pointer is, a resized window show its content at its size, and each event
// delay the next rest. Call it on the GUI thread.
func GuardEvents(of fyne.Window, w *glfw.Window) {
	window, input := reflect.ValueOf(of).UnsafePointer(), inputOf(of, of.Canvas())
	movePointerFirst(w.SetCursorPosCallback, w.SetMouseButtonCallback, w.SetDropCallback, func(x, y float64) {
		input.guard(func() { processMouseMoved(window, x, y) })
	})
	guard2(w.SetCursorPosCallback)
	endHover(w.SetCursorEnterCallback, w.SetCursorPosCallback, func() bool { return w.GetMouseButton(glfw.MouseButtonLeft) == glfw.Press })
	guard2(w.SetScrollCallback)
	guard2(w.SetSizeCallback)
	if c, ok := of.Canvas().(resizedCanvas); ok {
		drawTwice(w.SetSizeCallback, c, func(f func()) { fyne.Do(Wake(f)) }, func() { paint(fyne.CurrentApp().Driver(), of) })
	}
	guard2(w.SetFramebufferSizeCallback)
	guard2(w.SetPosCallback)
	guard1(w.SetFocusCallback)
	guard1(w.SetCharCallback)
	guard1(w.SetDropCallback)
	if do := w.SetMouseButtonCallback(nil); do != nil {
		w.SetMouseButtonCallback(func(w *glfw.Window, b glfw.MouseButton, a glfw.Action, m glfw.ModifierKey) {
			gui.noteInput()
			input.guard(func() { do(w, b, a, m) })
		})
	}
	if do := w.SetKeyCallback(nil); do != nil {
		w.SetKeyCallback(func(w *glfw.Window, k glfw.Key, code int, a glfw.Action, m glfw.ModifierKey) {
			handle(func() { do(w, k, code, a, m) })
		})
	}
	if do := w.SetCloseCallback(nil); do != nil {
		w.SetCloseCallback(func(w *glfw.Window) { handle(func() { do(w) }) })
	}
}

// movePointerFirst replaces the handlers of movements, buttons and drops: move gets the last movement
// before a button or a drop. The toolkit would take a click that arrives together with its movement,
// as in a long frame or at the end of a rest, for one at the pointer's previous place, where it is
// lost. Windows and macOS report where files are dragged only together with the drop.
func movePointerFirst(
	setMovement func(glfw.CursorPosCallback) glfw.CursorPosCallback,
	setButton func(glfw.MouseButtonCallback) glfw.MouseButtonCallback,
	setDrop func(glfw.DropCallback) glfw.DropCallback,
	move func(x, y float64),
) {
	var lastX, lastY float64
	hasMoved := false
	catchUp := func() {
		if hasMoved {
			hasMoved = false
			move(lastX, lastY)
		}
	}
	if note := setMovement(nil); note != nil {
		setMovement(func(w *glfw.Window, x, y float64) {
			lastX, lastY, hasMoved = x, y, true
			note(w, x, y)
		})
	}
	if press := setButton(nil); press != nil {
		setButton(func(w *glfw.Window, b glfw.MouseButton, a glfw.Action, m glfw.ModifierKey) {
			catchUp()
			press(w, b, a, m)
		})
	}
	if drop := setDrop(nil); drop != nil {
		setDrop(func(w *glfw.Window, names []string) {
			catchUp()
			drop(w, names)
		})
	}
}

// endHover moves the pointer out of a window that it has left, unless it drags something. The toolkit
// does not notice that: what was under the pointer last would stay highlighted. The handler before
// learns of it afterwards: for [OnFileDrag], a movement outside is one of a drag.
func endHover(
	setEnter func(glfw.CursorEnterCallback) glfw.CursorEnterCallback,
	setMovement func(glfw.CursorPosCallback) glfw.CursorPosCallback,
	isDragging func() bool,
) {
	note := setMovement(nil)
	setMovement(note)
	if note == nil {
		return
	}
	before := setEnter(nil)
	setEnter(func(w *glfw.Window, entered bool) {
		if !entered && !isDragging() {
			note(w, -1, -1)
		}
		if before != nil {
			before(w, entered)
		}
	})
}

// handle handles an event that is not one of the pointer's buttons.
func handle(do func()) {
	gui.noteInput()
	crash.Run(event, do)
}

// guard1 and guard2 replace a handler with one or two arguments. set returns the previous one.
func guard1[F ~func(*glfw.Window, A), A any](set func(F) F) {
	if do := set(nil); do != nil {
		set(func(w *glfw.Window, a A) { handle(func() { do(w, a) }) })
	}
}

func guard2[F ~func(*glfw.Window, A, A), A any](set func(F) F) {
	if do := set(nil); do != nil {
		set(func(w *glfw.Window, a, b A) { handle(func() { do(w, a, b) }) })
	}
}
