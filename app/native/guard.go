package native

import (
	"github.com/go-gl/glfw/v3.4/glfw"

	"fairlead/gateway/peer/crash"
)

// event is the work that a panic in a handler names in the log.
const event = "event of a window"

// GuardEvents makes a panic about an event of a window, such as a click or a key, the failure of that
// event alone. The toolkit calls its own handlers and ours without that. Call it on the GUI thread.
func GuardEvents(w *glfw.Window) {
	guard2(w.SetCursorPosCallback)
	guard2(w.SetScrollCallback)
	guard2(w.SetSizeCallback)
	guard2(w.SetFramebufferSizeCallback)
	guard2(w.SetPosCallback)
	guard1(w.SetFocusCallback)
	guard1(w.SetCharCallback)
	guard1(w.SetDropCallback)
	if do := w.SetMouseButtonCallback(nil); do != nil {
		w.SetMouseButtonCallback(func(w *glfw.Window, b glfw.MouseButton, a glfw.Action, m glfw.ModifierKey) {
			crash.Run(event, func() { do(w, b, a, m) })
		})
	}
	if do := w.SetKeyCallback(nil); do != nil {
		w.SetKeyCallback(func(w *glfw.Window, k glfw.Key, code int, a glfw.Action, m glfw.ModifierKey) {
			crash.Run(event, func() { do(w, k, code, a, m) })
		})
	}
	if do := w.SetCloseCallback(nil); do != nil {
		w.SetCloseCallback(func(w *glfw.Window) { crash.Run(event, func() { do(w) }) })
	}
}

// guard1 and guard2 replace a handler with one or two arguments. set returns the previous one.
func guard1[F ~func(*glfw.Window, A), A any](set func(F) F) {
	if do := set(nil); do != nil {
		set(func(w *glfw.Window, a A) { crash.Run(event, func() { do(w, a) }) })
	}
}

func guard2[F ~func(*glfw.Window, A, A), A any](set func(F) F) {
	if do := set(nil); do != nil {
		set(func(w *glfw.Window, a, b A) { crash.Run(event, func() { do(w, a, b) }) })
	}
}
